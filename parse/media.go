package parse

import (
	"net/http"
	"strings"
)

type mediaKind int

const (
	mediaOther mediaKind = iota
	mediaHTML
	mediaPlain
)

// mediaType returns the type/subtype of a Content-Type, lower case. Without a
// usable one it sniffs (WHATWG MIME Sniffing, section 7: identifying a
// resource with an unknown MIME type). A type that is stated is believed.
func mediaType(contentType string, body []byte) string {
	essence := essenceOf(contentType)
	switch essence {
	case "", "unknown/unknown", "application/unknown", "*/*":
		return essenceOf(http.DetectContentType(body))
	}
	return essence
}

// essenceOf cuts the parameters off. It returns "" for what has no slash.
func essenceOf(contentType string) string {
	essence, _, _ := strings.Cut(contentType, ";")
	// Several Content-Type fields arrive joined by commas: the first counts.
	essence, _, _ = strings.Cut(essence, ",")
	essence = trimSpace(essence)
	if !strings.Contains(essence, "/") {
		return ""
	}
	return strings.ToValidUTF8(strings.ToLower(essence), "\uFFFD")
}

func kindOfMedia(essence string) mediaKind {
	switch essence {
	case "text/html", "application/xhtml+xml":
		return mediaHTML
	case "text/plain":
		return mediaPlain
	}
	return mediaOther
}

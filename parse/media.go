package parse

import (
	"net/http"

	"github.com/weftcrawl/weft/mediatype"
)

type mediaKind int

const (
	mediaOther mediaKind = iota
	mediaHTML
	mediaPlain
)

// essenceOf returns the type/subtype by which to read a body. Without a usable
// one it sniffs (WHATWG MIME Sniffing, section 7: identifying a resource with an
// unknown MIME type). A type that is stated is believed.
func essenceOf(stated mediatype.Type, body []byte) string {
	switch stated.Essence {
	case "", "unknown/unknown", "application/unknown":
		return mediatype.Of(http.DetectContentType(body)).Essence
	}
	return stated.Essence
}

func kindOfMedia(essence string) mediaKind {
	switch essence {
	case "text/html", mediaXHTML:
		return mediaHTML
	case "text/plain":
		return mediaPlain
	}
	return mediaOther
}

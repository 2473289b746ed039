package plain

import (
	"bytes"
	"path"
	"strings"
)

// Format is the format of a text.
type Format string

// Formats. None: the body has another format. Text: the body has no structure.
const (
	None     Format = ""
	Text     Format = "text"
	Markdown Format = "markdown"
	JSON     Format = "json"
	// Lines has one JSON value in each line, or after each record separator (RFC 7464).
	Lines Format = "json_lines"
	CSV   Format = "csv"
	Code  Format = "code"
)

// byMedia are the media types that name a format, besides those that end in "+json".
var byMedia = map[string]Format{
	"text/markdown": Markdown, "text/x-markdown": Markdown, "application/markdown": Markdown,
	"application/json": JSON, "text/json": JSON, "text/x-json": JSON,
	"application/x-ndjson": Lines, "application/ndjson": Lines, "application/jsonl": Lines, "application/x-jsonlines": Lines,
	"application/jsonlines": Lines, "application/json-lines": Lines, "application/json-seq": Lines, "text/jsonl": Lines,
	"text/csv": CSV, "application/csv": CSV, "text/x-csv": CSV, "text/comma-separated-values": CSV,
	"text/tab-separated-values": CSV, "text/tsv": CSV,
}

// bySuffix are the ends of names that tell the format of a text. Most servers call such a text
// plain.
var bySuffix = map[string]Format{
	".md": Markdown, ".markdown": Markdown, ".mkd": Markdown, ".mdown": Markdown,
	".json": JSON, ".geojson": JSON, ".webmanifest": JSON,
	".jsonl": Lines, ".ndjson": Lines, ".csv": CSV, ".tsv": CSV, ".tab": CSV,
}

// Kind tells the format of a body and, for code, the programming language. The stated media type
// decides. But servers send text/plain and application/octet-stream for files that they do not
// know. For these types the name in the URL decides, if the body is text.
func Kind(media, url string, body []byte) (f Format, language string) {
	if f = byMedia[media]; f != None {
		return f, ""
	}
	kind, sub, _ := strings.Cut(media, "/")
	if strings.HasSuffix(sub, "+json") && kind != "image" {
		return JSON, ""
	}
	if language = languageOfMedia[media]; language != "" {
		return Code, language
	}
	switch media {
	case "text/plain", "application/octet-stream", "binary/octet-stream":
	default:
		return None, ""
	}
	if media != "text/plain" && bytes.IndexByte(body[:min(len(body), 8<<10)], 0) >= 0 {
		return None, ""
	}
	name := nameIn(url)
	if f = bySuffix[path.Ext(name)]; f != None {
		return f, ""
	}
	if language = languageOfName(name, body); language != "" {
		return Code, language
	}
	if media != "text/plain" {
		return None, ""
	}
	return Text, ""
}

// nameIn is the last segment of a URL's path, in lower case.
func nameIn(url string) string {
	if end := strings.IndexAny(url, "?#"); end >= 0 {
		url = url[:end]
	}
	_, rest, _ := strings.Cut(url, "://")
	slash := strings.LastIndexByte(rest, '/')
	if slash < 0 {
		return ""
	}
	return strings.ToLower(rest[slash+1:])
}

package document

import "github.com/weftcrawl/weft/internal/mediatype"

// MediaType is the type by which Document reads a response: the one of its Content-Type,
// without parameters and in lower case, or else the sniffed one.
func MediaType(in Input) string { return essenceOf(mediatype.Of(in.ContentType), in.Body) }

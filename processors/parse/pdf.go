package parse

import (
	"bytes"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/extract"
	"github.com/weftcrawl/weft/processors/parse/pdf"
)

// pdfHandler reads PDF.
var pdfHandler = handler{
	name: "pdf",
	takes: func(b *body) bool {
		switch b.media {
		case "application/pdf", "application/x-pdf", "application/octet-stream", "binary/octet-stream":
			return pdf.Looks(b.Body)
		}
		return false
	},
	page: (*parser).pdf,
}

// isSlow tells whether a record of fetched is read in a lane beside the loop: its body is a PDF, or
// its body is elsewhere and its media type is a PDF.
func isSlow(r *kgo.Record) bool {
	if !bytes.Contains(r.Value, []byte(pdf.Magic)) && !bytes.Contains(r.Value, []byte("application/pdf")) {
		return false // all but a few
	}
	var f weftpb.Fetched
	if proto.Unmarshal(r.Value, &f) != nil {
		return false
	}
	b := body{Input: input(&f), f: &f}
	b.media = document.MediaType(b.Input)
	return b.media == "application/pdf" || pdfHandler.takes(&b)
}

// pdfOptions are the bounds of a PDF and of reading it.
func pdfOptions(o document.Options) pdf.Options {
	return pdf.Options{Bounds: fileBounds(o), MaxPages: pdf.MaxPages, MaxTime: pdf.MaxTime, MaxMemory: pdf.MaxMemory}
}

func (p *parser) pdf(b *body) *document.Page {
	var read *extract.Document
	if read, b.err = p.pdfs.Read(b.ctx, b.Body); b.err != nil {
		return p.bare(b)
	}
	return p.filePage(b, read)
}

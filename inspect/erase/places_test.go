package erase

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/test/archived"
)

// A misspelt place is not an archive without the page.
func TestNoArchive(t *testing.T) {
	b, pages := archived.Folder(t), archived.Folder(t)
	archived.PutText(t, b, "c-0f-00001-000.jsonl", `{"url":"`+erased+`"}`+"\n")
	before := contents(t, b)
	for _, do := range []func(context.Context, Options) (Report, error){Search, Run} {
		if _, err := do(t.Context(), options(b, pages)); !errors.Is(err, ErrNoArchive) {
			t.Errorf("%v", err)
		}
	}
	if !maps.Equal(before, contents(t, b)) {
		t.Error("the place was changed")
	}
	o := options(b, pages)
	o.Selection = Older(Keep{Default: time.Hour}, now) // the archive may have no file yet
	if _, err := Run(t.Context(), o); err != nil {
		t.Error(err)
	}
	if _, err := Run(t.Context(), options(b, pages)); err != nil { // the log says that an archive was there
		t.Error(err)
	}
}

// A file that is not compressed has no members. It must not look like a file without the page.
func TestPlainFile(t *testing.T) {
	b, pages := archived.Folder(t), archived.Folder(t)
	fill(t, b, pages)
	archived.PutText(t, b, "wget/other.warc", "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: "+erased+"\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
	before := contents(t, b)
	for _, do := range []func(context.Context, Options) (Report, error){Search, Run} {
		if _, err := do(t.Context(), options(b, pages)); !errors.Is(err, ErrPlain) || !strings.Contains(err.Error(), "wget/other.warc") {
			t.Errorf("%v", err)
		}
	}
	if !maps.Equal(before, contents(t, b)) {
		t.Error("the archive was changed")
	}
}

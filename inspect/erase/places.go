package erase

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/processors/archive"
)

// ErrNoArchive means that no archive is, or was, at the place in which a page or a domain is to be erased. Without this
// error a misspelt place would look like an archive that does not have the page.
var ErrNoArchive = errors.New("there is no file of an archive")

// plainExtension is the extension of files of other programs that are not compressed.
const plainExtension = ".warc"

// ErrPlain means that a file of another program has no members that can be searched. It may have a selected page.
var ErrPlain = errors.New("the file is not compressed, so that nothing can be erased in it: move it elsewhere, or compress each of its records")

// checkPlaces refuses places in which nothing can be erased.
func (r *run) checkPlaces(ctx context.Context) error {
	if err := r.checkArchive(ctx); err != nil {
		return err
	}
	return r.checkCopies(ctx)
}

// checkArchive refuses a place without an archive. An erasure may have deleted all of its files, and leaves its log. By
// age nothing is to be found in an archive that has no file yet.
func (r *run) checkArchive(ctx context.Context) error {
	there := r.Selection.kind == byAge
	for object, err := range r.Archive.List(ctx, "") {
		switch key := object.Key; {
		case err != nil:
			return err
		case strings.HasSuffix(key, plainExtension):
			return fmt.Errorf("%s in %s: %w", key, r.Archive, ErrPlain)
		case archive.IsFile(key), archive.IsMetadata(key), kept.IsIndex(key), strings.HasPrefix(key, logFolder):
			there = true
		}
	}
	if !there {
		return fmt.Errorf("%w in %s", ErrNoArchive, r.Archive)
	}
	return nil
}

package kafka

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrID is wrapped by the error about a cluster id that must be a mistake, such as a page of text.
var ErrID = errors.New("the cluster has an id that cannot be used")

// maxIDBytes bounds a cluster id, so that its folder's name fits into 255 bytes
// with each byte escaped. Kafka's own ids have 22.
const maxIDBytes = 80

// Folder returns the name of a folder for the states of a cluster: its id, with
// what cannot stand in a name escaped as in a URL (%2F). Ids that Kafka, Redpanda
// and the providers give stay as they are. Two ids never get the same folder.
func Folder(id string) (string, error) {
	switch {
	case id == "":
		return "", fmt.Errorf("%w: it is empty", ErrID)
	case len(id) > maxIDBytes:
		return "", fmt.Errorf("%w: it begins with %q and has %d bytes, of at most %d; the brokers have it from their meta.properties, "+
			"into which it came when their storage was formatted", ErrID, id[:maxIDBytes/2], len(id), maxIDBytes)
	case !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl):
		return "", fmt.Errorf("%w: %q holds control characters; the brokers have it from their meta.properties, "+
			"into which it came when their storage was formatted", ErrID, id)
	}
	var name strings.Builder
	for i := range len(id) {
		c := id[i]
		if inName(c) && (c != '.' || i > 0) {
			name.WriteByte(c)
		} else {
			fmt.Fprintf(&name, "%%%02X", c)
		}
	}
	return name.String(), nil
}

func inName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("._-", c) >= 0
}

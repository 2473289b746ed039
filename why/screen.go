package why

import (
	"fmt"
	"io"
	"strings"
)

// screen lays facts out below a head: a name in the first column and lines
// beside it.
type screen struct {
	head  string
	b     strings.Builder
	width int
}

// line writes facts under one name; further ones stand below the first.
func (s *screen) line(name string, facts ...string) {
	for i, fact := range facts {
		if i > 0 {
			name = ""
		}
		s.b.WriteString(strings.TrimRight(fmt.Sprintf("  %-*s %s", s.width, name, fact), " ") + "\n")
	}
}

// text writes a line as it is.
func (s *screen) text(format string, args ...any) { fmt.Fprintf(&s.b, format+"\n", args...) }

func (s *screen) flush(w io.Writer) error {
	text := s.head + "\n"
	if s.b.Len() > 0 {
		text += "\n" + s.b.String()
	}
	_, err := io.WriteString(w, text)
	return err
}

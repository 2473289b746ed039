package structured

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// values reads the values of JSON in a script. Some pages have several in one script. After a mistake it
// returns what was read before; wrong says what is wrong, and where.
func values(script string) (read []any, wrong, where string) {
	script = unwrapped(script)
	read, err := decoded(script)
	if err == nil {
		return read, "", ""
	}
	if again, other := decoded(repaired(script)); other == nil && len(again) > 0 {
		return again, Repaired, place(err)
	}
	return read, BadJSON, place(err)
}

func decoded(script string) (read []any, err error) {
	d := json.NewDecoder(strings.NewReader(script))
	d.UseNumber()
	for {
		var value any
		if err := d.Decode(&value); errors.Is(err, io.EOF) {
			return read, nil
		} else if err != nil {
			return read, err
		}
		read = append(read, value)
	}
}

func place(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("byte %d", syntax.Offset)
	}
	return "end"
}

// wrappers are what some pages write around JSON, for browsers of the last century.
var wrappers = []struct{ from, to string }{
	{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"/*<![CDATA[*/", "/*]]>*/"}, {"//<![CDATA[", "//]]>"}, {"// <![CDATA[", "// ]]>"},
}

func unwrapped(script string) string {
	script = strings.TrimSpace(strings.TrimPrefix(script, "\ufeff"))
	for _, w := range wrappers {
		if inner, ok := strings.CutPrefix(script, w.from); ok {
			return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(inner), w.to))
		}
	}
	return script
}

// repaired is a script without the usual mistakes: comments, commas in front of an end, control
// characters in strings, escapes that JSON does not have, a semicolon at the end.
func repaired(script string) string {
	out := make([]byte, 0, len(script)+16)
	for i := 0; i < len(script); {
		switch c := script[i]; {
		case c == '"':
			out, i = repairedString(out, script, i)
		case strings.HasPrefix(script[i:], "/*"):
			i = behind(script, i+2, "*/")
		case strings.HasPrefix(script[i:], "//"):
			i = behind(script, i+2, "\n")
		case c == '}' || c == ']':
			out = append(bytes.TrimSuffix(bytes.TrimRight(out, " \t\r\n"), []byte(",")), c)
			i++
		default:
			out = append(out, c)
			i++
		}
	}
	return strings.TrimRight(string(out), "; \t\r\n")
}

func behind(script string, from int, end string) int {
	if n := strings.Index(script[from:], end); n >= 0 {
		return from + n + len(end)
	}
	return len(script)
}

// repairedString appends the string that begins at i.
func repairedString(out []byte, script string, i int) ([]byte, int) {
	out = append(out, '"')
	for i++; i < len(script); i++ {
		switch c := script[i]; {
		case c == '"':
			return append(out, '"'), i + 1
		case c == '\\' && i+1 < len(script):
			i++
			if strings.IndexByte(`"\/bfnrtu`, script[i]) >= 0 {
				out = append(out, '\\')
			}
			if script[i] >= ' ' {
				out = append(out, script[i])
			}
		case c < ' ':
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, c)
		}
	}
	return out, i
}

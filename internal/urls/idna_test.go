package urls

import (
	"bufio"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestIDNA runs the conformance cases of UTS #46 as hosts, with the flags of
// "domain to ASCII".
func TestIDNA(t *testing.T) {
	file, err := os.Open("testdata/IdnaTestV2.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cases, lines := 0, bufio.NewScanner(file)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		columns := strings.Split(line, ";")
		if len(columns) < 7 {
			continue
		}
		for i := range columns {
			columns[i] = strings.TrimSpace(columns[i])
		}
		or := func(a, b string) string {
			if a == "" {
				return b
			}
			return a
		}
		source := uts46String(columns[0])
		if !utf8.ValidString(source) {
			continue // surrogates, which UTF-8 cannot hold
		}
		unicode := or(columns[1], columns[0])
		status := or(columns[4], columns[2])
		want := uts46String(or(columns[3], unicode))
		cases++
		if uts46Fails(status) {
			checkHost(t, source, nil)
		} else {
			checkHost(t, source, &want)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if cases < 6000 {
		t.Errorf("only %d cases", cases)
	}
}

var uts46Escape = regexp.MustCompile(`\\u[0-9A-Fa-f]{4}|\\x\{[0-9A-Fa-f]+\}`)

// uts46String reads a column.
func uts46String(s string) string {
	if s == `""` {
		return ""
	}
	return uts46Escape.ReplaceAllStringFunc(s, func(escape string) string {
		n, err := strconv.ParseUint(strings.Trim(escape, `\ux{}`), 16, 32)
		if err != nil || n >= 0xD800 && n < 0xE000 {
			return "\xff"
		}
		return string(rune(n))
	})
}

// uts46Fails reports whether a status has an error that counts: but not CheckHyphens,
// VerifyDnsLength and UseSTD3ASCIIRules, which are off.
func uts46Fails(status string) bool {
	for code := range strings.FieldsFuncSeq(status, func(r rune) bool { return strings.ContainsRune("[], ", r) }) {
		switch code {
		case "V2", "V3", "A4_1", "A4_2", "U1":
		default:
			return true
		}
	}
	return false
}

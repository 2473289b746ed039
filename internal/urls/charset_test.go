package urls

import (
	"strings"
	"testing"
)

func TestQueryInCharset(t *testing.T) {
	page, _ := Parse("https://example.org/dir/page?x")
	for _, c := range []struct{ charset, ref, want string }{
		{"", "/é?é", "/%C3%A9?%C3%A9"},
		{"utf-8", "/é?é", "/%C3%A9?%C3%A9"},
		{"windows-1252", "/é?é=€", "/%C3%A9?%E9=%80"},
		{"windows-1252", "?é#é", "/dir/page?%E9"},
		{"windows-1252", "a?q=é b'", "/dir/a?q=%E9%20b%27"},
		{"windows-1252", "a?q=é%C3%A9+&amp", "/dir/a?q=%E9%C3%A9+&amp"},
		{"windows-1252", "a?q=\u2020", "/dir/a?q=%86"},
		{"windows-1252", "a?q=Ω\té", "/dir/a?q=%26%23937%3B%E9"},
		{"windows-1252", "a#?é", "/dir/a"},
		{"windows-1252", "a?é#" + strings.Repeat("x", 2*maxRawBytes), "/dir/a?%E9"},
		{"windows-1252", "a?q=plain", "/dir/a?q=plain"},
		{"latin1", "a?é", "/dir/a?%E9"}, // a label
		{"windows-1251", "a?дa", "/dir/a?%E4a"},
		{"koi8-r", "a?д", "/dir/a?%C4"},
		{"shift_jis", "a?1+1 ≡ 2%20‽", "/dir/a?1+1%20%81%DF%202%20%26%238253%3B"},
		{"shift_jis", "a?表", "/dir/a?%95\\"},
		{"euc-jp", "a?日本", "/dir/a?%C6%FC%CB%DC"},
		{"shift_jis", "a?髙島屋ⅰ", "/dir/a?%FB%FC%93%87%89%AE%FA@"},
		{"shift_jis", "a?1−¥100‾\u0080", "/dir/a?1%81|\\100~%80"},
		{"euc-jp", "a?café=丂−¥‾ｱ", "/dir/a?caf%26%23233%3B=%26%2319970%3B%A1%DD\\~%8E%B1"},
		{"iso-2022-jp", "a?０", "/dir/a?%1B$B%230%1B(B"}, // a byte of its code is "#"
		{"iso-2022-jp", "a?日x", "/dir/a?%1B$BF|%1B(Bx"},
		{"iso-2022-jp", "a?ｱﾞ−日", "/dir/a?%1B$B%%22!+!]F|%1B(B"},
		{"iso-2022-jp", "a?日¥a‾\\x", "/dir/a?%1B$BF|%1B(J\\a~%1B(B\\x"},
		{"iso-2022-jp", "a?日😀¥😀日", "/dir/a?%1B$BF|%1B(B%26%23128512%3B%1B(J\\%26%23128512%3B%1B$BF|%1B(B"},
		{"iso-2022-jp", "a?日\x0e\x1bx", "/dir/a?%1B$BF|%1B(B%26%2365533%3B%26%2365533%3Bx"},
		{"gbk", "a?中€", "/dir/a?%D6%D0%80"},
		{"gb18030", "a?中😀", "/dir/a?%D6%D0%949%FC6"},
		{"gb18030", "a?\xff\x00é", "/dir/a?%841%A47%00%A8%A6"}, // U+FFFD for what is not UTF-8
		{"big5", "a?中", "/dir/a?%A4%A4"},
		{"big5", "a?café咗╞十", "/dir/a?caf%26%23233%3B%26%2321655%3B%F9%E9%A4Q"},
		{"euc-kr", "a?한", "/dir/a?%C7%D1"},
		{"utf-16le", "a?é", "/dir/a?%C3%A9"},    // written in UTF-8
		{"replacement", "a?é", "/dir/a?%C3%A9"}, // likewise
		{"no-such", "a?é", "/dir/a?%C3%A9"},
	} {
		got, refusal := (*Form)(nil).Document(page, "", c.charset).Resolve(c.ref)
		if want := "https://example.org" + c.want; got.String() != want || refusal != Accepted {
			t.Errorf("%s: %q is %q %s, want %q", c.charset, c.ref, got, refusal, want)
		}
	}
}

func TestDocument(t *testing.T) {
	page, _ := Parse("https://example.org/dir/page")
	form := formOf(t, defaultOptions())
	for _, c := range []struct{ base, ref, want string }{
		{"", "a?gclid=1", "https://example.org/dir/a"},
		{"/other/", "a", "https://example.org/other/a"},
		{"https://example.com/x;jsessionid=1/y", "a", "https://example.com/x/a"},
		{"/s;jsessionid=1/", "../b", "https://example.org/b"},
		{"data:,x", "a", "https://example.org/dir/a"},
	} {
		if got, refusal := form.Document(page, c.base, "").Resolve(c.ref); got.String() != c.want || refusal != Accepted {
			t.Errorf("%q against %q is %q %s, want %q", c.ref, c.base, got, refusal, c.want)
		}
	}
}

// FuzzCharset checks that a query in any encoding is ASCII, whatever it holds,
// and that the URL of it is a fixed point.
func FuzzCharset(f *testing.F) {
	for _, name := range []string{"windows-1252", "iso-2022-jp", "shift_jis", "gb18030", "big5", "x-user-defined", "koi8-u"} {
		for _, ref := range []string{"?é", "?日本 x¥", "a?\uf7ff\x0e\x0f\x1b", "?\xff%zz", "?Ω&é='#!é", "//h?😀"} {
			f.Add(name, ref)
		}
	}
	page, _ := Parse("https://example.org/dir/page")
	f.Fuzz(func(t *testing.T, name, ref string) {
		u, refusal := formOf(t, Options{HashBang: true}).Document(page, "", name).Resolve(ref)
		if refusal != Accepted {
			return
		}
		if again, refusal := Parse(u.String()); again != u || refusal != Accepted {
			t.Fatalf("%s: %q gives %q, and that %q %s", name, ref, u, again, refusal)
		}
	})
}

package extract

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		text string
		mark byte
		want string
	}{
		{"1,234.56", 0, "1234.56"}, {"1.234,56", 0, "1234.56"}, {"1 234,5", 0, "1234.5"}, {"1'234", 0, "1234"}, {"12,5", 0, "12.5"},
		{"1,234", 0, "1234"}, {"1.234", 0, "1.234"}, {"1.234", ',', "1234"}, {"1,234", ',', "1.234"}, {"1.234.567", 0, "1234567"},
		{"-5", 0, "-5"}, {"−5 °C", 0, "-5"}, {"about 007 or 8", 0, "7"}, {"0.50", 0, "0.50"}, {"none", 0, ""}, {strings.Repeat("9", 50), 0, ""},
	} {
		if got, _ := Decimal(c.text, c.mark); got != c.want {
			t.Errorf("%q is %q, want %q", c.text, got, c.want)
		}
	}
}

func TestCurrency(t *testing.T) {
	for _, c := range []struct{ text, preferred, want string }{
		{"EUR 12", "", "EUR"}, {"12 €", "USD", "EUR"}, {"$5", "", "USD"}, {"$5", "CAD", "CAD"}, {"A$5", "", "AUD"}, {"5", "CHF", "CHF"}, {"5", "", ""},
	} {
		if got := Currency(c.text, c.preferred); got != c.want {
			t.Errorf("%q with %q is %q, want %q", c.text, c.preferred, got, c.want)
		}
	}
}

func TestTextOf(t *testing.T) {
	root, err := html.Parse(strings.NewReader("<div>a<b>b</b><p>c</p>d<script>x</script><style>y</style><noscript>z</noscript><noframes><i>z</i></noframes><noembed><i>z</i></noembed><iframe><i>z</i></iframe></div><p>e<br>f"))
	if err != nil {
		t.Fatal(err)
	}
	text, visited := TextOf(root, 1000)
	if text = OneLine(text, 100); text != "ab c d e f" || visited != 26 {
		t.Errorf("%q of %d nodes", text, visited)
	}
	if text, visited := TextOf(root, 1); strings.Contains(text, "c") || visited > 5 {
		t.Errorf("%q of %d nodes, though one byte is enough", text, visited)
	}
}

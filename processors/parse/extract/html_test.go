package extract

import "testing"

func TestWithoutTags(t *testing.T) {
	for html, want := range map[string]string{
		"a<b>c</b>&amp;d": "a c &d", "": "", "<script>x</script>y<style>z": "  y ", "a < b": "a < b", "<p title='>'>x": " x", "<!-- x -->y": "y",
	} {
		if got := WithoutTags(html); got != want {
			t.Errorf("%q: %q, want %q", html, got, want)
		}
	}
}

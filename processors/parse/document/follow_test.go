package document

import (
	"fmt"
	"strings"
	"testing"
)

// TestFollow holds which links a crawl goes on to, by default and otherwise.
func TestFollow(t *testing.T) {
	body := []byte(`<link rel=next href=/next><link rel=icon href=/icon><link rel=stylesheet href=/css>
		<a href=/plain>x</a><a rel="noopener nofollow" href=/nofollow>x</a><a rel=UGC href=/ugc>x</a>
		<a rel=sponsored href=/sponsored>x</a><form action=/search></form><form action=/order method=POST></form>
		<img src=/image srcset="/image-2x 2x"><script src=/script></script><iframe src=/iframe></iframe>
		<a rel=nofollow href=/both>x</a><a href=/both>x</a><a href=/image>x</a>`)
	for _, test := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"by default", nil, "/next /plain /ugc /sponsored /iframe /both /image"},
		{"more relations refuse", func(o *Options) { o.NoFollow = []string{"nofollow", "ugc", "sponsored"} }, "/next /plain /iframe /both /image"},
		{"no relation refuses", func(o *Options) { o.NoFollow = nil }, "/next /plain /nofollow /ugc /sponsored /iframe /both /image"},
		{"anchors only", func(o *Options) { o.Follow = []Kind{KindAnchor} }, "/plain /ugc /sponsored /both /image"},
		{"images and forms", func(o *Options) { o.Follow = []Kind{KindImage, KindForm} }, "/search /image /image-2x"},
		{"everything", func(o *Options) { o.Follow = Kinds() }, "/next /icon /css /plain /ugc /sponsored /search /image /image-2x /script /iframe /both /image"},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := newParser(t, test.change).Document(Input{ContentType: "text/html", Body: body})
			var followed []string
			for _, link := range page.Links {
				if page.Follow(link) {
					followed = append(followed, link.URL)
				}
			}
			if got := strings.Join(followed, " "); got != test.want {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
			page.Robots.NoFollow = true
			for _, link := range page.Links {
				if page.Follow(link) {
					t.Errorf("a page that asks for nofollow leads to %s", link.URL)
				}
			}
		})
	}
}

// Data for other sites that show the page within theirs is no page. Each page of WordPress names two.
func TestOEmbedIsNoLink(t *testing.T) {
	page := newParser(t, nil).Document(Input{
		URL: "https://a.example/", ContentType: "text/html",
		LinkFields: []string{`</h1>; rel="alternate"; type="application/json+oembed"; title="T", </h2>; rel=alternate; type=application/json`},
		Body: []byte(`<link rel=alternate type="application/json+oembed" href=/1><link rel="alternate" type=" text/xml+oEmbed; charset=utf-8" href=/2>
			<link rel=alternate type="application/feed+json" href=/3><link rel=alternate hreflang=de href=/4><a type="application/json+oembed" href=/5>x</a>`),
	})
	var found []string
	for _, link := range page.Links {
		found = append(found, link.URL)
	}
	if got := strings.Join(found, " "); got != "https://a.example/h2 /3 /4 /5" {
		t.Error(got)
	}
}

// TestFollowsRel parts the tokens that refuse by commas as well as by white space,
// and those that name what a link element is for by white space only.
func TestFollowsRel(t *testing.T) {
	for rel, want := range map[string]bool{
		"":                    true,
		"nofollow":            false,
		"ugc nofollow":        false,
		"ugc,nofollow":        false,
		"nofollow, sponsored": false,
		" ,nofollow,":         false,
		"no,follow":           true,
		"ugc,nofollows":       true,
		"ugc;nofollow":        true,
	} {
		if got := DefaultOptions().Follows(KindAnchor, "", rel); got != want {
			t.Errorf("%q: got %v", rel, got)
		}
	}
	page := newParser(t, nil).Document(Input{
		ContentType: "text/html",
		Body:        []byte(`<link rel=next,prev href=/a><a rel="UGC,NoFollow" href=/b>x</a><a rel=ugc,sponsored href=/c>x</a>`),
	})
	var found []string
	for _, link := range page.Links {
		found = append(found, fmt.Sprint(link.URL, " ", page.Follow(link)))
	}
	if got := strings.Join(found, ", "); got != "/b false, /c true" {
		t.Error(got)
	}
}

// TestHashBang tells states apart, or takes them for parts of one page.
func TestHashBang(t *testing.T) {
	body := []byte(`<a href="#!/one">x</a><a href="#!/two">x</a><a href="/app#!/three">x</a><a href="/app#!/four">x</a><a href="/app#five">x</a><a href="#six">x</a>`)
	for hashBang, want := range map[bool]string{
		true:  "#!/one #!/two /app#!/three /app#!/four /app#five, 1 of the page itself",
		false: "/app#!/three, 3 of the page itself",
	} {
		p := newParser(t, func(o *Options) { o.HashBang = hashBang })
		page := p.Document(Input{URL: "https://www.example.org/", ContentType: "text/html", Body: body})
		var found []string
		for _, link := range page.Links {
			found = append(found, link.URL)
		}
		if got := fmt.Sprintf("%s, %d of the page itself", strings.Join(found, " "), page.Skipped.Self); got != want {
			t.Errorf("hash bang %v: got %s, want %s", hashBang, got, want)
		}
	}
}

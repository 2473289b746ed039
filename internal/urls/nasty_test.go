package urls

// nasty are references that crawlers stumble over. They seed the fuzz tests
// and are resolved against each of nastyBases.
var nasty = []string{
	"", " ", "#", "#top", "?", "?#", "?q", ".", "..", "./", "../", "../..", "/.", "/..", "/./", "/../",
	"a", "a/b", "a/../b", "a/./b", "a/..", "a/.", "./a:b", "a:b", "1:2", "a b:c", "../../../../x",
	"/a//b", "/a//../b", "//", "///", "////", "///h", "//h", "//h/p", "//H.example/P", "//h:80/", "//h:443/",
	"/a/%2e%2E/b", "/a/.%2e/b", "/a/%2e", "/%2e%2e%2e", "/a%2fb", "/%7Euser/%41%5f%2d", "/%c3%a9", "/é", "/日本?語=é#ü",
	"/%", "/%4", "/%zz", "/%%41", "/%%36%31", "/%3%31", "/%C3%A9%ff", "/\xff", "/a\xc3", "/%00",
	"/a b", "/a b #c", "/a\tb", "/a\nb", "/a\x00b", "/a\x7fb", "/a\\b", "\\a", "\\\\h\\a", "/a?b\\c",
	"/\"<>`{}|^'", "/?\"<>`{}|^'", "/;p=1,2!$&()*+@:=[]~", "/?a=1&b[]=2;c='d'&e=f/g?h:i@j",
	"mailto:a@b", "javascript:void(0)", "java\nscript:x", "tel:+1", "data:text/plain,x", "ftp://h/", "file:///c|/x",
	"blob:https://h/x", "about:blank", "ws://h/", "HTTP://EXAMPLE.com/", "hTTps://Example.com:443", "http:a", "http:/a",
	"http://", "https://", "http:///a", "http://?", "http://#", "http://:80/", "http://h:", "http://h:/x", "http://h:0/",
	"http://h:00080/", "http://h:65535/", "http://h:65536/", "http://h:99999999999/", "http://h:8x/", "http://h:-1/",
	"http://u:p@h/", "http://@h/", "http://u@h@i/", "http://u:p@/", "https://h?x", "https://h#x", "https://h\\x",
	"http://example.com.", "http://example.com../", "http://.example.com/", "http://a..b/", "http://-a.b-/", "http://a_b.c/",
	"http://ab--cd.example/", "http://xn--/", "http://xn--a/", "http://xn--bcher-kva.example/", "http://XN--BCHER-KVA.example/",
	"http://bücher.example/", "http://BÜCHER.example/", "http://faß.example/", "http://日本語。jp/", "http://a%2eb/", "http://%41/",
	"http://1.2.3.4/", "http://1/", "http://0x7f.1/", "http://1.2.3/", "http://1.2.3.4.5/", "http://256.1.1.1/", "http://1.2.3.4./",
	"http://1a/", "http://a.1/", "http://a.0x/", "http://a.1b/", "http://0xg/", "http://a.-1/", "http://[::1]/", "http://[::1]:80/",
	"http://[1:0:0:0:0:0:0:8]:8080/x", "http://[::ffff:1.2.3.4]/", "http://[::1/", "http://[x]/", "http://a b/", "http://a|b/",
	"http://a<b/", "http://h/a@b:c", "http://h/?q=http://x/../y", "http://localhost/", "http://foo\u200dbar/", "http://\u00ad/",
	"  http://h/a  ", "\u00a0http://h/", "http://h/a\u00a0", "http://h/\ufeff", "http://h/😀", "https:example.com", "https:/example.com/",
	"/a^b?c^d", "http://a.xn--pokxncvks/", "http://Ⴀ.example/", "http://ẞ/", "http://[::ffff:0:1]/", "http://[1::2:0:0:3:4]/", "http://0xffffffff/",
	"http://4294967296/", "http:+0", "http://a[b]:80/", "http://[::1]x:80/", "http://h:80:80/", "http://h/..;a/%2e;b/;", "//u@/", "http:\\\\h", "http:\\h", "/#!a", "#!",
	"http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com/",
}

var nastyBases = []string{
	"", "http://example.com", "https://example.com:8443/a/b/c.html?q=/x/y", "http://h/a/b/", "https://h/?q", "http://1.2.3.4/a//b",
	"https://xn--bcher-kva.example/%20/x", "http://[::1]:81/%/y",
}

package document

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"

	"github.com/weftcrawl/weft/internal/mediatype"
)

// TestLabels judges every label of the Encoding Standard, as it stands, in other
// letters, and with white space around it.
func TestLabels(t *testing.T) {
	f, err := os.Open("testdata/labels.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	labels := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		label, name, ok := strings.Cut(lines.Text(), " ")
		if label == "#" || !ok {
			continue
		}
		labels++
		for _, spelled := range []string{label, strings.ToUpper(label), " \t" + label + "\n\f "} {
			if got := nameOfLabel(spelled); got != name {
				t.Errorf("%q: got %q, want %q", spelled, got, name)
			}
		}
		for _, wrong := range []string{label + "x", "x " + label, "\u00a0" + label, label + "\v"} {
			if got := nameOfLabel(wrong); got != "" {
				t.Errorf("%q: got %q", wrong, got)
			}
		}
	}
	if labels != 228 {
		t.Errorf("%d labels", labels)
	}
}

// TestPrescan holds the algorithm of the HTML standard, each step by a document
// that another reading of it would take for something else.
func TestPrescan(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"charset", `<meta charset="koi8-r">`, "koi8-r"},
		{"unquoted", `<meta charset=KOI8-R>`, "koi8-r"},
		{"single quotes, spaces", "<meta\n charset\t=\f' koi8-r '>", "koi8-r"},
		{"slash for a space", `<meta/charset=koi8-r/>`, ""},
		{"slashes between attributes", `<meta/x=1 /charset="koi8-r"/>`, "koi8-r"},
		{"upper case", `<META CHARSET=koi8-r>`, "koi8-r"},
		{"pragma", `<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">`, "koi8-r"},
		{"pragma after content", `<meta content="text/html; charset=koi8-r" http-equiv=content-type>`, "koi8-r"},
		{"content without pragma", `<meta content="text/html; charset=koi8-r">`, ""},
		{"another pragma", `<meta http-equiv=refresh content="1; charset=koi8-r">`, ""},
		{"charset wins over content", `<meta http-equiv=content-type content="charset=big5" charset=koi8-r>`, "koi8-r"},
		{"even when it comes first", `<meta charset=koi8-r http-equiv=content-type content="charset=big5">`, "koi8-r"},
		{"first of two attributes", `<meta charset=koi8-r charset=big5>`, "koi8-r"},
		{"quoted in content", `<meta http-equiv=content-type content='charset = "koi8-r"x'>`, "koi8-r"},
		{"unclosed quote in content", `<meta http-equiv=content-type content='charset="koi8-r'>`, ""},
		{"the second charset of content", `<meta http-equiv=content-type content="charset; charset=koi8-r">`, "koi8-r"},
		{"label not known, then one", `<meta charset=none><meta charset=koi8-r>`, "koi8-r"},
		{"in a comment", `<!-- <meta charset=big5> --><meta charset=koi8-r>`, "koi8-r"},
		{"after the shortest comment", `<!--><meta charset=koi8-r>`, "koi8-r"},
		{"after the other", `<!---><meta charset=koi8-r>`, "koi8-r"},
		{"comment that does not end", `<!-- <meta charset=koi8-r>`, ""},
		{"in an attribute", `<p title="<meta charset=big5>"><meta charset=koi8-r>`, "koi8-r"},
		{"in an attribute of an end tag", `</p title='<meta charset=big5>'><meta charset=koi8-r>`, "koi8-r"},
		{"in a bogus comment", `<?php "<meta charset=big5>" ?><meta charset=koi8-r>`, "koi8-r"},
		{"in a script all the same", `<script>"<meta charset=koi8-r>"</script>`, "koi8-r"},
		{"a longer name", `<metadata charset=koi8-r>`, ""},
		{"no tag at all", `< meta charset=koi8-r>`, ""},
		{"UTF-16 is UTF-8", `<meta charset=utf-16le>`, "utf-8"},
		{"x-user-defined", `<meta charset=x-user-defined>`, "windows-1252"},
		{"replacement", `<meta charset=hz-gb-2312>`, "replacement"},
		{"cut at its end", `<meta charset="koi8-r"`, ""},
		{"cut off by the bound", strings.Repeat(" ", sniffBytes-len("<meta charset=koi8-r")) + `<meta charset=koi8-r>`, ""},
		{"just within it", strings.Repeat(" ", sniffBytes-len("<meta charset=koi8-r>")) + `<meta charset=koi8-r>`, "koi8-r"},
		{"XML", `<?xml version="1.0" encoding='koi8-r'?>`, "koi8-r"},
		{"XML with controls", "<?xml encoding\x01=\x02\"koi8-r\"?>", "koi8-r"},
		{"XML, meta wins", `<?xml version="1.0" encoding="big5"?><meta charset=koi8-r>`, "koi8-r"},
		{"XML, not at the beginning", ` <?xml version="1.0" encoding="koi8-r"?>`, ""},
		{"XML with a space in the label", `<?xml encoding="koi8-r "?>`, ""},
		{"XML, UTF-16 is UTF-8", `<?xml encoding="utf-16"?>`, "utf-8"},
		{"XML in UTF-16LE", "<\x00?\x00x\x00m\x00l\x00", "utf-16le"},
		{"XML in UTF-16BE", "\x00<\x00?\x00x\x00m\x00l", "utf-16be"},
		{"nothing", `<p>koi8-r</p>`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := prescan([]byte(test.body)); got != test.want {
				t.Errorf("%s: got %q, want %q", test.body, got, test.want)
			}
		})
	}
}

// TestLateDeclaration looks behind the first 1,024 bytes, and no further than the
// head.
func TestLateDeclaration(t *testing.T) {
	far := "<script>" + strings.Repeat("x", sniffBytes) + "</script>"
	for _, test := range []struct{ name, body, want string }{
		{"charset", far + `<meta charset=koi8-r>`, "koi8-r"},
		{"pragma", far + `<META http-equiv=Content-Type content="text/html; charset=KOI8-R">`, "koi8-r"},
		{"across the bound", strings.Repeat(" ", sniffBytes-9) + `<meta charset=koi8-r>`, "koi8-r"},
		{"behind a comment across it", "<!--" + far + `<meta charset=big5>--><meta charset=koi8-r>`, "koi8-r"},
		{"UTF-16 is UTF-8", far + `<meta charset=utf-16>`, "utf-8"},
		{"x-user-defined", far + `<meta charset=x-user-defined>`, "windows-1252"},
		{"label not known", far + `<meta charset=none>`, ""},
		{"in a script", far + `<script>"<meta charset=big5><body>"</SCRIPT ><meta charset=koi8-r>`, "koi8-r"},
		{"in a title", far + `<title><body></titles></title><meta charset=koi8-r>`, "koi8-r"},
		{"in a style that does not end", far + `<style><meta charset=koi8-r></styles>`, ""},
		{"in noscript", far + `<noscript><meta charset=koi8-r></noscript>`, ""},
		{"in a value", far + `<link title="<body>"><meta charset=koi8-r>`, "koi8-r"},
		{"behind a header", far + `<header></header><meta charset=koi8-r>`, "koi8-r"},
		{"behind the head", far + `</HEAD><meta charset=koi8-r>`, ""},
		{"in the body", far + `<Body class=x><meta charset=koi8-r>`, ""},
		{"just within the bound", strings.Repeat(" ", headBytes-len("<meta charset=koi8-r>")) + `<meta charset=koi8-r>`, "koi8-r"},
		{"beyond it", strings.Repeat(" ", headBytes-len("<meta charset=koi8-r")) + `<meta charset=koi8-r>`, ""},
		{"cut at its end", far + `<meta charset="koi8-r"`, ""},
		{"ends in a tag", far + "<", ""},
		{"ends in an end tag", far + "</", ""},
		{"short", `<meta charset=koi8-r>`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if name := prescan([]byte(test.body)); len(test.body) > sniffBytes && name != "" {
				t.Errorf("the prescan found %q", name)
			}
			if got := lateDeclaration([]byte(test.body)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// FuzzPrescan checks that every encoding that is found has a name of the standard, and is found in
// the prefix alone.
func FuzzPrescan(f *testing.F) {
	f.Add([]byte(`<!-- x --><p title='>'><meta http-equiv=content-type content='charset="koi8-r"'>`))
	f.Add([]byte(`<?xml version="1.0" encoding="big5"?><meta/charset=utf-16>`))
	f.Add([]byte("<\x00?\x00x\x00</a b=c d></a/><meta charset"))
	f.Fuzz(func(t *testing.T, body []byte) {
		name := prescan(body)
		if name != "" && nameOfLabel(name) != name {
			t.Errorf("%q names %q", body, name)
		}
		far := append(bytes.Repeat([]byte(" "), sniffBytes), body...)
		late := lateDeclaration(far)
		if late != "" && nameOfLabel(late) != late {
			t.Errorf("%q names %q late", body, late)
		}
		if behind := lateDeclaration(append(far, "</head><meta charset=big5>"...)); late != "" && behind != late {
			t.Errorf("%q: %q, and %q with more behind the head", body, late, behind)
		}
		if len(body) < sniffBytes {
			return
		}
		if again := prescan(append(bytes.Clone(body[:sniffBytes]), "<meta charset=big5>"...)); again != name {
			t.Errorf("%q: %q, and %q with more behind what is looked at", body, name, again)
		}
	})
}

// TestW3CEncodings reads the documents of the W3C's tests of the input byte
// stream, as golang.org/x/net has them.
func TestW3CEncodings(t *testing.T) {
	for file, test := range map[string]struct{ contentType, want string }{
		"HTTP-charset.html":              {"text/html; charset=iso-8859-15", "iso-8859-15"},
		"UTF-16LE-BOM.html":              {"", "utf-16le"},
		"UTF-16BE-BOM.html":              {"", "utf-16be"},
		"meta-content-attribute.html":    {"text/html", "iso-8859-15"},
		"meta-charset-attribute.html":    {"text/html", "iso-8859-15"},
		"No-encoding-declaration.html":   {"text/html", "utf-8"},
		"HTTP-vs-UTF-8-BOM.html":         {"text/html; charset=iso-8859-15", "utf-8"},
		"HTTP-vs-meta-content.html":      {"text/html; charset=iso-8859-15", "iso-8859-15"},
		"HTTP-vs-meta-charset.html":      {"text/html; charset=iso-8859-15", "iso-8859-15"},
		"UTF-8-BOM-vs-meta-content.html": {"text/html", "utf-8"},
		"UTF-8-BOM-vs-meta-charset.html": {"text/html", "utf-8"},
	} {
		body, err := os.ReadFile(filepath.Join("testdata", "charset", file))
		if err != nil {
			t.Fatal(err)
		}
		if _, name := decode(body, hint{label: mediatype.Of(test.contentType).Charset}); name != test.want {
			t.Errorf("%s: got %s, want %s", file, name, test.want)
		}
	}
}

// samples are a few sentences about looms in languages whose pages were not in
// windows-1252.
var samples = map[string]string{
	"ru": "Ткацкий станок — это механизм, служащий для переплетения нитей. Основа натянута вдоль станка, а уток проходит поперёк неё с помощью челнока. Самые ранние станки были вертикальными.",
	"uk": "Ткацький верстат — пристрій, який служить для виготовлення тканини. Основа натягнута вздовж верстата, а піткання проходить упоперек за допомогою човника. Їжак і ґава.",
	"bg": "Тъкачният стан е уред за изработване на тъкани от прежда. Основата се опъва надлъжно, а вътъкът минава напречно с помощта на совалка.",
	"el": "Ο αργαλειός είναι μηχανή που χρησιμοποιείται για την ύφανση. Τα νήματα του στημονιού είναι τεντωμένα και το υφάδι περνά ανάμεσά τους με τη σαΐτα.",
	"he": "נול הוא מכשיר המשמש לאריגת בד. חוטי השתי מתוחים לאורך הנול וחוטי הערב עוברים ביניהם בעזרת סירה. הנולים הקדומים ביותר היו אנכיים.",
	"ar": "النول هو جهاز يستخدم لنسج القماش. تشد خيوط السدى على طول النول وتمر خيوط اللحمة بينها بمساعدة المكوك. كانت الأنوال الأولى عمودية.",
	"tr": "Dokuma tezgâhı kumaş dokumak için kullanılan bir düzenektir. Çözgü iplikleri gerilir, atkı iplikleri mekik yardımıyla aralarından geçirilir. İlk tezgâhlar dikeydi; şimdi çoğu değişti.",
	"pl": "Krosno tkackie to urządzenie służące do wytwarzania tkanin. Osnowa jest naciągnięta wzdłuż krosna, a wątek przechodzi w poprzek za pomocą czółenka. Najwcześniejsze krosna były pionowe; źdźbło żółte.",
	"cs": "Tkalcovský stav je zařízení sloužící k výrobě tkanin. Osnova je natažena podél stavu a útek prochází napříč pomocí člunku. Nejstarší stavy byly svislé; příliš žluťoučký kůň úpěl ďábelské ódy.",
	"hu": "A szövőszék olyan eszköz, amely szövet készítésére szolgál. A láncfonalak ki vannak feszítve, a vetülékfonal pedig a vetélő segítségével halad át közöttük. „Árvíztűrő tükörfúrógép”, őrült ötlet.",
	"de": "Ein Webstuhl ist eine Vorrichtung zur Herstellung von Geweben. Die Kettfäden sind gespannt, der Schuss läuft mit Hilfe des Schiffchens quer hindurch. Die ältesten Webstühle waren übrigens senkrecht; große Füße.",
	"fr": "Le métier à tisser est une machine servant à fabriquer du tissu. La chaîne est tendue le long du métier, et la trame passe à travers grâce à la navette. Les premiers métiers étaient verticaux.",
	"es": "El telar es una máquina para tejer. La urdimbre está tensada a lo largo del telar y la trama pasa a través con ayuda de la lanzadera. Los primeros telares eran verticales; año, señor, también.",
	"sv": "En vävstol är en anordning för att framställa tyg. Varpen är spänd längs vävstolen och inslaget löper tvärs igenom med hjälp av skytteln. De äldsta vävstolarna stod upprätt på gården.",
	"th": "เครื่องทอผ้าเป็นเครื่องมือที่ใช้สำหรับทอผ้า ด้ายยืนถูกขึงให้ตึงตามยาว และด้ายพุ่งสอดผ่านด้วยกระสวย เครื่องทอผ้าแรกสุดเป็นแบบแนวตั้ง",
	"ja": "織機は、糸を織って布を作るための機械である。経糸は張られており、緯糸は杼によってその間を通される。最も古い織機は垂直であったと考えられている。ハタオリはむずかしい。",
	"zh": "织布机是用来织布的机器。经线沿着织机拉紧，纬线借助梭子从中穿过。最早的织机是垂直的，后来才出现水平的织机。我们今天使用的大多数布料都是机器织成的。",
	"tw": "織布機是用來織布的機器。經線沿著織機拉緊，緯線藉助梭子從中穿過。最早的織機是垂直的，後來才出現水平的織機。我們今天使用的大多數布料都是機器織成的。",
	"ko": "베틀은 실을 엮어 천을 짜는 기계이다. 날실은 팽팽하게 당겨져 있고 씨실은 북의 도움으로 그 사이를 지나간다. 가장 오래된 베틀은 수직이었다고 한다.",
	"hr": "Tkalački stan je naprava za tkanje. Osnova je napeta duž stana, a potka se provlači poprijeko pomoću čunka. Najstariji stanovi bili su uspravni; žuti šešir, đak, čvrsta nit.",
	"sk": "Krosná sú zariadenie na výrobu tkanín. Osnova je napnutá pozdĺž krosien a útok sa prevlieka naprieč pomocou člnka. Najstaršie krosná boli zvislé; ľahká niť, žltý šál.",
	"sl": "Statve so naprava za tkanje. Osnova je napeta vzdolž statev, votek pa se skozi njo vleče s čolničkom. Najstarejše statve so bile navpične; žametna nit, šal.",
	"ro": "Războiul de ţesut este un dispozitiv pentru ţeserea pânzei. Urzeala este întinsă de-a lungul războiului, iar bătătura trece prin ea cu ajutorul suveicii. Cele mai vechi erau verticale şi simple.",
	"lv": "Stelles ir ierīce audumu izgatavošanai. Šķēri ir nostiepti gar stellēm, un audi tiek vilkti cauri ar atspoles palīdzību. Vecākās stelles bija stāvas.",
	"it": "Il telaio è una macchina per la tessitura. L'ordito è teso lungo il telaio e la trama passa perché la spola la porta di là. I più antichi erano verticali, così si è detto.",
	"pt": "O tear é uma máquina para a produção de tecidos. A urdidura é esticada ao longo do tear e a trama passa através dela com a ajuda da lançadeira. Os mais antigos não eram horizontais.",
	"da": "En væv er et redskab til fremstilling af stof. Trenden er spændt ud på langs af væven, og skudgarnet føres på tværs ved hjælp af skytten. De ældste væve var opretstående, også på gården.",
	"is": "Vefstóll er tæki til að vefa dúk. Uppistaðan er strengd eftir endilöngum vefstólnum og ívafið er dregið þvert í gegnum hana með skyttu. Elstu vefstólarnir voru lóðréttir, þótt ýmsir væru öðruvísi.",
	"lt": "Audimo staklės yra įrenginys, skirtas audiniams gaminti. Metmenys ištempti išilgai staklių, o ataudai šaudyklės pagalba perveriami skersai. Ąžuolas, čežėjo, žąsis, šūkis, ūkas.",
}

// TestGuess reads pages that declare no encoding: by their letters alone, and where the
// page or the country's domain tells the language.
func TestGuess(t *testing.T) {
	for _, test := range []struct {
		language, encoding string
		domain             string
	}{
		{"ru", "windows-1251", "ru"}, {"ru", "koi8-r", "ru"}, {"ru", "iso-8859-5", "ru"}, {"ru", "ibm866", "ru"},
		{"uk", "windows-1251", "ua"}, {"uk", "koi8-u", "ua"},
		{"bg", "windows-1251", "bg"}, {"bg", "iso-8859-5", "bg"},
		{"el", "windows-1253", "gr"}, {"el", "iso-8859-7", "gr"},
		{"he", "windows-1255", "il"}, {"ar", "windows-1256", "eg"},
		{"tr", "windows-1254", "tr"}, {"lt", "windows-1257", "lt"}, {"lv", "windows-1257", "lv"},
		{"ru", "x-mac-cyrillic", "ru"}, {"ar", "iso-8859-6", "eg"},
		{"hr", "windows-1250", "hr"}, {"hr", "iso-8859-2", "hr"}, {"sk", "windows-1250", "sk"}, {"sk", "iso-8859-2", "sk"},
		{"sl", "windows-1250", "si"}, {"sl", "iso-8859-2", "si"}, {"ro", "windows-1250", "ro"}, {"ro", "iso-8859-2", "ro"},
		{"it", "windows-1252", "it"}, {"pt", "windows-1252", "pt"}, {"da", "windows-1252", "dk"}, {"is", "windows-1252", "is"},
		{"pl", "iso-8859-2", "pl"}, {"pl", "windows-1250", "pl"},
		{"cs", "iso-8859-2", "cz"}, {"cs", "windows-1250", "cz"},
		{"hu", "windows-1250", "hu"},
		{"de", "windows-1252", "de"}, {"fr", "windows-1252", "fr"}, {"es", "windows-1252", "es"}, {"sv", "windows-1252", "se"},
		{"th", "windows-874", "th"}, {"ko", "euc-kr", "kr"}, {"zh", "gbk", "cn"}, {"tw", "big5", "tw"},
		{"ja", "shift_jis", "jp"}, {"ja", "euc-jp", "jp"}, {"ja", "iso-2022-jp", "jp"},
	} {
		t.Run(test.language+" "+test.encoding, func(t *testing.T) {
			sample := samples[test.language]
			enc, _ := charset.Lookup(test.encoding)
			body, err := enc.NewEncoder().Bytes([]byte("<html><title>x</title><a href='/y'>z</a><p>" + sample + "</p></html>"))
			if err != nil {
				t.Fatal(err)
			}
			// What is not in the encoding was escaped, and is not to be compared.
			want, err := enc.NewDecoder().Bytes(body)
			if err != nil {
				t.Fatal(err)
			}
			check := func(hints string, body []byte, h hint) {
				t.Helper()
				if text, name := decode(body, h); !strings.HasSuffix(string(text), string(want[len("<html>"):])) {
					t.Errorf("%s: read as %s", hints, name)
				}
			}
			check("no hint", body, hint{domain: "com"})
			check("domain", body, hint{domain: test.domain})
			check("header", body, hint{domain: "com", contentLanguage: test.language})
			withLang := append([]byte(`<html lang="`+test.language+`-XX">`), body[len("<html>"):]...)
			check("lang", withLang, hint{domain: "com"})
		})
	}
}

// TestGuessUTF16 reads pages in UTF-16 without a byte order mark, and leaves those alone
// that have a few NULs.
func TestGuessUTF16(t *testing.T) {
	for _, language := range []string{"de", "ru", "zh", "ja"} {
		for name, order := range map[string]unicode.Endianness{"utf-16le": unicode.LittleEndian, "utf-16be": unicode.BigEndian} {
			page := "<html><title>x</title><a href='/y'>z</a><p>" + samples[language] + "</p></html>"
			body, err := unicode.UTF16(order, unicode.IgnoreBOM).NewEncoder().Bytes([]byte(page))
			if err != nil {
				t.Fatal(err)
			}
			if text, got := decode(body, hint{}); got != name || string(text) != page {
				t.Errorf("%s in %s: read as %s", language, name, got)
			}
		}
	}
	for _, body := range []string{"<p>\x00a\x00b</p>", "a\x00b", strings.Repeat("\x00", 100), strings.Repeat("ab\x00", 100)} {
		if _, got := decode([]byte(body), hint{}); got != nameWindows1252 {
			t.Errorf("%q: read as %s", body, got)
		}
	}
}

// TestGuessJapanese reads a short page in Shift_JIS whose letters' frequencies say little, and no
// other text that may be Shift_JIS.
func TestGuessJapanese(t *testing.T) {
	for text, want := range map[string]string{
		"ご案内は、こちらから。":                        "shift_jis",
		"élève, à côté":                      nameWindows1252,
		strings.Repeat("naïve façade, ", 20): nameWindows1252,
	} {
		enc, _ := charset.Lookup(want)
		body, err := enc.NewEncoder().Bytes([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, got := decode(body, hint{domain: "com"}); got != want {
			t.Errorf("%s: read as %s, want %s", text, got, want)
		}
	}
}

// TestGuessOfFewLetters reads pages in windows-1252 with a word or two beyond ASCII.
func TestGuessOfFewLetters(t *testing.T) {
	for _, text := range []string{
		"I stand to lift £825 from a £2 bet", "25 °C, 3 × 4 µm, ½ cup of crème brûlée", "“He’s here” – Søren said… “naïve”", "¿Qué? ¡Año nuevo!",
		"Å, Ø og Æ", "Raphaël Hertzog, Élodie et François", "n.º 1, 2ª edição", "è vero, è così", "© Weft® 2026 — 10 €", "garçon, señor, Müller",
	} {
		enc, _ := charset.Lookup(nameWindows1252)
		body, err := enc.NewEncoder().Bytes([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, name := decode(body, hint{domain: "com"}); string(got) != text {
			t.Errorf("%s: read as %s: %s", text, name, got)
		}
	}
}

// TestGuessNamed reads short texts, whose letters look like letters of other encodings, on pages
// that name their language.
func TestGuessNamed(t *testing.T) {
	for _, test := range []struct{ language, encoding, text string }{
		{"ja", "euc-jp", "製品 X100"},
		{"ja", "euc-jp", "図15.84 The Dashboard Dialog window"},
		{"ja", "euc-jp", "14.12. 市松模様..."},
		{"ja", "euc-jp", "8.6. 彩度"},
		{"ja", "euc-jp", "[FAMILY Given]. 製作著作 ©"},
		{"ja", "shift_jis", "製品 X100"},
		{"ja", "shift_jis", "カタログ"},
		{"zh", "gbk", "参考文献"},
		{"zh-CN", "gbk", "第 12 章 Enrich my GIMP"},
		{"zh-Hans", "gbk", "附录 C. How to Contribute"},
		{"zh-TW", "big5", "目錄"},
		{"zh-Hant-HK", "big5", "下一頁"},
		{"ko", "euc-kr", "제품 X100"},
		// In these the letters are right.
		{"ja", "koi8-r", samples["ru"]},
		{"ko", "windows-1251", samples["ru"]},
		{"zh-TW", "gbk", samples["zh"]},
		{"it", "windows-1252", strings.Repeat("«Componenti»<p>", 8)},
	} {
		enc, _ := charset.Lookup(test.encoding)
		body, err := enc.NewEncoder().Bytes([]byte("<html lang=" + test.language + "><title>" + test.text + "</title>"))
		if err != nil {
			t.Fatal(err)
		}
		if got := guess(body, hint{}); got != test.encoding {
			t.Errorf("%s: %s: got %s, want %s", test.language, test.text, got, test.encoding)
		}
	}
}

// TestLanguageOfTag checks what language and script tags mean, in the spellings that
// pages have.
func TestLanguageOfTag(t *testing.T) {
	for _, test := range []struct{ tags, language, encoding string }{
		{"zh zh-CN zh-Hans zh-Hans-CN zh-SG zh_CN ZH-cn zh-Hans-HK zh-CHS zh-CN.gbk cmn-Hans zho zh-guoyu", "zh", "gbk"},
		{"zh-TW zh-HK zh-MO zh-Hant zh-Hant-TW zh-Hant-HK zh_TW zh-hant-cn cmn-Hant", "zh-hant", "big5"},
		{"zh-yue yue yue-HK", "yue", "big5"},
		{"zh-CHT", "cht", "big5"},
		{"ja ja-JP ja_JP jpn ja-x-old ja-euc", "ja", "euc-jp"},
		{"ko-KR kor", "ko", "euc-kr"},
		{"sr sr-RS sr-Cyrl", "sr", "windows-1251"},
		{"sr-Latn sr-Latn-RS sr-ME sh", "sr-latn", "iso-8859-2"},
		{"az az-AZ az-Latn", "az", "windows-1254"},
		{"az-Cyrl az-Cyrl-AZ", "az-cyrl", "windows-1251"},
		{"ru ru-RU ru_RU.KOI8-R rus ru-XX ru-russian", "ru", "windows-1251"},
		{"ru-Latn", "ru-latn", "windows-1252"},
		{"iw iw-IL he heb", "he", "windows-1255"},
		{"mo ro ro-MD", "ro", "iso-8859-2"},
		{"de de-CH-1996 deu", "de", "windows-1252"},
		{"russian", "russian", "windows-1252"},
	} {
		for _, tag := range strings.Fields(test.tags) {
			got := languageOfTag(tag)
			if encoding := legacyEncoding(got, []byte("\xb0\xa1"), false); got != test.language || encoding != test.encoding {
				t.Errorf("%s: got %s in %s, want %s in %s", tag, got, encoding, test.language, test.encoding)
			}
		}
	}
	if got := languageOfTag(""); got != "" {
		t.Errorf("no tag: got %q", got)
	}
	for domain, want := range map[string]string{"tw": "zh-hant", "hk": "zh-hant", "cn": "zh", "jp": "ja", "com": ""} {
		if got := languageOf(nil, hint{domain: domain}); got != want {
			t.Errorf("%s: got %q, want %q", domain, got, want)
		}
	}
}

// TestFits looks at texts that are cut within a character, by what is looked at or
// by what was read.
func TestFits(t *testing.T) {
	for _, name := range []string{"gbk", "big5", "euc-kr", "euc-jp", "shift_jis"} {
		enc, _ := charset.Lookup(name)
		text, err := enc.NewEncoder().Bytes([]byte("北京"))
		if err != nil {
			t.Fatal(err)
		}
		within := text[:len(text)-1]
		if !fits(name, text, false) || !fits(name, text, true) || fits(name, within, false) || !fits(name, within, true) {
			t.Errorf("%s: %x or %x", name, text, within)
		}
	}
	for text, want := range map[string]bool{
		strings.Repeat("\xb1\xb1", 19) + "\xb1\n":       true,
		strings.Repeat("\xb1\xb1", 18) + "\xb1\n":       false,
		strings.Repeat("x", 100) + "\xb1\xb1\xb1\n":     false,
		strings.Repeat("\xb1\xb1", 40) + "\xb1\n\xff\n": true,
		"\xff": false,
		"":     true,
	} {
		if got := fits("gbk", []byte(text), false); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
	enc, _ := charset.Lookup("gbk")
	sentence, err := enc.NewEncoder().String(samples["zh"])
	if err != nil {
		t.Fatal(err)
	}
	teaser := sentence[:len(sentence)-1] + "\n"
	if got := guess([]byte("<html lang=zh-CN><p>"+strings.Repeat(teaser, 3)), hint{}); got != "gbk" {
		t.Errorf("cut within characters by the server: %s", got)
	}
	body := "<html lang=zh>\xb1\xb1\xbe\xa9" + strings.Repeat(" ", guessedBytes-5) + "\xb1\xb1\xbe\xa9"
	if got := guess([]byte(body), hint{}); got != "gbk" {
		t.Errorf("cut within a character: %s", got)
	}
}

func BenchmarkGuess(b *testing.B) {
	for language, name := range map[string]string{"ru": "windows-1251", "pl": "iso-8859-2"} {
		b.Run(language, func(b *testing.B) {
			enc, _ := charset.Lookup(name)
			body, err := enc.NewEncoder().Bytes([]byte(strings.Repeat("<p>"+samples[language], 150)))
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				guess(body, hint{})
			}
		})
	}
}

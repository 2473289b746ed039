"""Reads pages with other programs, and writes what they find to reference.jsonl.

    python3 -m venv /tmp/reference
    /tmp/reference/bin/pip install extruct==0.18.0 pyld==3.3.0
    /tmp/reference/bin/python reference.py

Microdata and RDFa are read by extruct (RDFa by pyRdfa in it), and scripts of JSON-LD are found by extruct
and expanded by PyLD. The pages are those of pages/, and pages that are made here, from models that are
the same each time, in each of the three languages.
"""

import glob
import html
import json
import random

import lxml.html
from extruct.jsonld import JsonLdExtractor
from extruct.rdfa import RDFaExtractor
from extruct.w3cmicrodata import MicrodataExtractor
from pyld import jsonld

BASE = "https://site.example/dir/page"
# What package structured knows of the context of schema.org.
URLS = "url image logo sameAs thumbnailUrl contentUrl embedUrl mainEntityOfPage item availability itemCondition eventStatus eventAttendanceMode".split()
SCHEMA = {"@vocab": "http://schema.org/", "schema": "http://schema.org/"}
SCHEMA.update({name: {"@id": "http://schema.org/" + name, "@type": "@id"} for name in URLS})


def loader(url, options):
    assert "schema.org" in url, url
    return {"contextUrl": None, "documentUrl": url, "contentType": "application/ld+json", "document": {"@context": SCHEMA}}


def expanded(page):
    found = []
    extractor = JsonLdExtractor()
    for script in extractor._xp_jsonld(lxml.html.fromstring(page)):
        try:
            values = list(extractor._extract_items(script))
        except ValueError:
            continue
        for value in values:
            found += jsonld.expand(value, {"base": BASE, "documentLoader": loader})
    return found


def read(name, page, made):
    record = {"name": name}
    if made:
        record["html"] = page
    for key, value in [
        ("microdata", MicrodataExtractor(strict=True).extract(page, base_url=BASE)),
        ("rdfa", RDFaExtractor().extract(page, base_url=BASE) if "typeof" in page or "about=" in page else []),
        ("json_ld", expanded(page)),
    ]:
        if value:
            record[key] = value
    return record


# Models: an item is (types, properties), and a value is a text, a URL ("@" in front), or an item.

WORDS = "loom warp weft shuttle heddle thread wool flax reed bobbin treadle selvedge Köper Twill 织机 & < \" ' 3,5 café".split(" ")
TYPES = {
    "Product": ["name", "description", "sku", "image*", "brand!Brand", "offers!Offer", "aggregateRating!AggregateRating", "review!Review"],
    "Offer": ["price", "priceCurrency", "url*", "availability*", "seller!Organization"],
    "Brand": ["name", "logo*"],
    "AggregateRating": ["ratingValue", "reviewCount"],
    "Review": ["author!Person", "reviewBody", "datePublished", "reviewRating!Rating"],
    "Rating": ["ratingValue", "bestRating"],
    "Person": ["name", "url*", "jobTitle", "address!PostalAddress", "worksFor!Organization", "sameAs*"],
    "Organization": ["name", "url*", "logo*", "telephone", "address!PostalAddress"],
    "PostalAddress": ["streetAddress", "addressLocality", "postalCode", "addressCountry"],
    "Article": ["headline", "author!Person", "publisher!Organization", "datePublished", "dateModified", "image*", "keywords", "articleBody"],
    "Recipe": ["name", "author!Person", "recipeIngredient", "recipeYield", "totalTime", "image*"],
    "Event": ["name", "startDate", "location!Place", "offers!Offer", "performer!Person"],
    "Place": ["name", "address!PostalAddress"],
    "BreadcrumbList": ["itemListElement!ListItem"],
    "ListItem": ["position", "name", "item*"],
}
ROOTS = ["Product", "Article", "Recipe", "Event", "BreadcrumbList", "Person", "Organization"]


def model(r, kind, depth=0):
    properties = []
    for name in TYPES[kind]:
        if r.random() < 0.25 and properties:
            continue
        for _ in range(r.choice([1, 1, 1, 2, 3])):
            if "!" in name:
                name_, inner = name.split("!")
                if depth < 4:
                    properties.append((name_, model(r, inner, depth + 1)))
            elif name.endswith("*"):
                properties.append((name[:-1], "@" + r.choice(["/a/b.jpg", "c.png", "../d?x=1&y=2", "https://other.example/e#f", "https://schema.org/InStock"])))
            else:
                properties.append((name, " ".join(r.choice(WORDS) for _ in range(r.randint(1, 5))) if not name.startswith(("date", "start", "price", "rating"))
                                   else {"d": "2024-05-06", "s": "2024-05-06T07:08", "p": "12.50", "r": "4.5"}[name[0]]))
    return ([kind], properties)


def as_json(item, top=True):
    types, properties = item
    out = {"@context": "https://schema.org"} if top else {}
    out["@type"] = types[0]
    for name, value in properties:
        value = as_json(value, False) if isinstance(value, tuple) else value[1:] if value.startswith("@") else value
        out.setdefault(name, []).append(value)
    return {name: value[0] if isinstance(value, list) and len(value) == 1 else value for name, value in out.items()}


def as_html(r, item, microdata, prop=None):
    """An item as elements, in one of several ways to write a value."""
    types, properties = item
    quoted = html.escape
    if microdata:
        out = "<div itemscope itemtype='http%s://schema.org/%s'" % (r.choice(["", "s"]), types[0]) + (" itemprop=%s>" % prop if prop else ">")
        key = "itemprop"
    else:
        out = "<div typeof=%s" % types[0] + (" property=%s>" % prop if prop else " vocab='http://schema.org/'>")
        key = "property"
    for name, value in properties:
        if isinstance(value, tuple):
            out += r.choice(["", "\n", "<p>text</p>"]) + as_html(r, value, microdata, name)
        elif value.startswith("@"):
            url = quoted(value[1:])
            out += r.choice(["<a {k}={n} href='{u}'>link</a>", "<link {k}={n} href='{u}'>", "<img {k}={n} src='{u}' alt=x>"]).format(k=key, n=name, u=url)
        else:
            text = quoted(value)
            out += r.choice(["<span {k}={n}>{t}</span>", "<p><b {k}={n}>{t}</b></p>", "<meta {k}={n} content=\"{t}\">", "<div {k}={n}>\n  {t} </div>", "<i {k}={n} content=\"{t}\">shown</i>"]).format(k=key, n=name, t=text)
    return out + "</div>\n"


def made():
    for seed in range(30):
        r = random.Random(seed)
        item = model(r, ROOTS[seed % len(ROOTS)])
        script = json.dumps(as_json(item), ensure_ascii=seed % 2 == 0).replace("</", "<\\/")
        yield "made-%02d-json-ld" % seed, '<!doctype html><html><head><title>t</title><script type="application/ld+json">%s</script></head><body></body></html>' % script
        yield "made-%02d-microdata" % seed, "<!doctype html><html><head><title>t</title></head><body>%s</body></html>" % as_html(r, item, True)
        yield "made-%02d-rdfa" % seed, "<!doctype html><html><head><title>t</title></head><body>%s</body></html>" % as_html(r, item, False)


with open("reference.jsonl", "w", encoding="utf-8") as out:
    records = [read(path, open(path, encoding="utf-8").read(), False) for path in sorted(glob.glob("pages/*.html"))]
    records += [read(name, page, True) for name, page in made()]
    for record in records:
        out.write(json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n")

package structured

import (
	"strings"

	"github.com/weftcrawl/weft/internal/urls"
)

// maxURLBytes bounds what may be a URL.
const maxURLBytes = urls.MaxBytes

// isWebURL tells whether a text is as a whole an absolute URL of the web.
func isWebURL(text string) bool {
	return len(text) <= maxURLBytes && urls.IsAbsolute(text) && !strings.ContainsAny(text, " \t\n\r\f<>\"")
}

// short is a name without the prefix of schema.org, if it has it.
func short(name string) string {
	rest, ok := strings.CutPrefix(name, "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(name, "http://"); !ok {
			return name
		}
	}
	rest = strings.TrimPrefix(rest, "www.")
	if rest, ok = strings.CutPrefix(rest, "schema.org/"); ok && rest != "" {
		return rest
	}
	return name
}

// isSchema tells whether a vocabulary or a context is that of schema.org.
func isSchema(url string) bool {
	rest := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(url)), "https://"), "http://")
	rest = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(rest, "www."), "#"), "/")
	switch rest {
	case "schema.org", "schema.org/docs/jsonldcontext.json", "schema.org/docs/jsonldcontext.jsonld", "schema.org/docs/jsonldcontext":
		return true
	}
	return false
}

// urlProperties are the properties of schema.org whose values are URLs by its context, and that pages
// write as relative references.
var urlProperties = setOf("url", "image", "logo", "sameAs", "thumbnailUrl", "contentUrl", "embedUrl", "downloadUrl", "installUrl",
	"mainEntityOfPage", "mainEntity", "item", "additionalType", "license", "discussionUrl", "isBasedOn", "screenshot", "hasMap", "photo",
	"codeRepository", "targetUrl", "trailer", "availability", "itemCondition", "eventStatus", "eventAttendanceMode", "significantLink",
	"relatedLink", "acquireLicensePage", "usageInfo", "menu", "hasMenu", "publishingPrinciples", "replyToUrl")

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// prefixes are those of the initial context of RDFa 1.1 that pages use, and those of Open Graph. JSON-LD
// of schema.org's context knows schema.
var prefixes = map[string]string{
	"schema": schemaOrg, "og": "http://ogp.me/ns#", "article": "http://ogp.me/ns/article#", "book": "http://ogp.me/ns/book#",
	"profile": "http://ogp.me/ns/profile#", "video": "http://ogp.me/ns/video#", "music": "http://ogp.me/ns/music#",
	"fb": "http://ogp.me/ns/fb#", "twitter": "https://dev.twitter.com/cards#",
	"dc": "http://purl.org/dc/terms/", "dcterms": "http://purl.org/dc/terms/", "dc11": "http://purl.org/dc/elements/1.1/",
	"foaf": "http://xmlns.com/foaf/0.1/", "cc": "http://creativecommons.org/ns#", "sioc": "http://rdfs.org/sioc/ns#",
	"skos": "http://www.w3.org/2004/02/skos/core#", "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
	"owl": "http://www.w3.org/2002/07/owl#", "xsd": "http://www.w3.org/2001/XMLSchema#", "gr": "http://purl.org/goodrelations/v1#",
	"v": "http://rdf.data-vocabulary.org/#", "vcard": "http://www.w3.org/2006/vcard/ns#", "rev": "http://purl.org/stuff/rev#",
	"ctag": "http://commontag.org/ns#", "dcat": "http://www.w3.org/ns/dcat#", "dctypes": "http://purl.org/dc/dcmitype/",
	"prov": "http://www.w3.org/ns/prov#", "org": "http://www.w3.org/ns/org#", "ical": "http://www.w3.org/2002/12/cal/icaltzd#",
	"void": "http://rdfs.org/ns/void#", "xhv": "http://www.w3.org/1999/xhtml/vocab#", "bibo": "http://purl.org/ontology/bibo/",
}

const schemaOrg = "http://schema.org/"

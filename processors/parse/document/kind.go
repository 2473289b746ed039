package document

import (
	"slices"
	"strings"
)

// Kind says by which element a document names a URL.
type Kind string

// Kinds that name pages.
const (
	// KindAnchor is an a element, of SVG too.
	KindAnchor Kind = "a"
	KindArea   Kind = "area"
	KindFrame  Kind = "frame"
	KindIframe Kind = "iframe"
	// KindRefresh is a meta element or header field Refresh.
	KindRefresh Kind = "refresh"
	// KindCanonical to KindPrev are link elements, and header fields Link
	// (RFC 8288), with that relation.
	KindCanonical Kind = "canonical"
	KindAlternate Kind = "alternate"
	KindNext      Kind = "next"
	KindPrev      Kind = "prev"
	// KindNoscript is any of the other kinds, but script, within a noscript or noframes element;
	// Link.Element says which.
	KindNoscript Kind = "noscript"
	// KindFeed is an entry of a feed.
	KindFeed Kind = "feed"
	// KindForm is the action of a form that is sent by GET, without the values of its fields.
	KindForm Kind = "form"
	// KindText is a URL in a text, or a value of JSON or CSV.
	KindText Kind = "text"
)

// Kinds that name what pages are made of.
const (
	// KindImage is src and srcset of img, of source in a picture, and of input;
	// and the poster of a video.
	KindImage Kind = "image"
	// KindMedia is the src of audio, video, their source and track elements,
	// and embed.
	KindMedia      Kind = "media"
	KindScript     Kind = "script"
	KindStylesheet Kind = "stylesheet"
	KindIcon       Kind = "icon"
)

// Kinds are all kinds, pages before what they are made of.
func Kinds() []Kind {
	return append(PageKinds(), KindForm, KindText, KindImage, KindMedia, KindScript, KindStylesheet, KindIcon)
}

// PageKinds are the kinds that a crawl follows by default: those that lead to pages without
// a form to fill in, and are made links by their document.
func PageKinds() []Kind {
	return []Kind{
		KindAnchor, KindArea, KindFrame, KindIframe, KindRefresh, KindCanonical, KindAlternate, KindNext, KindPrev,
		KindNoscript, KindFeed,
	}
}

func (k Kind) part() bool {
	switch k {
	case KindImage, KindMedia, KindScript, KindStylesheet, KindIcon:
		return true
	}
	return false
}

// Follows reports whether a link of that kind and rel is followed, as far as the link
// itself says. For KindNoscript, the kind of its element must be followed, too. As search
// engines do, it also reads rel with commas between the tokens (Google Search Central,
// "Qualify your outbound links to Google").
func (o Options) Follows(kind, element Kind, rel string) bool {
	if rel != "" {
		rel = strings.ReplaceAll(rel, ",", " ")
		for _, token := range o.NoFollow {
			if hasToken(rel, token) {
				return false
			}
		}
	}
	return slices.Contains(o.Follow, kind) && (kind != KindNoscript || slices.Contains(o.Follow, element))
}

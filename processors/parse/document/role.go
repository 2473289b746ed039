package document

import "golang.org/x/net/html/atom"

// role is what an element means to the collector.
type role uint8

const (
	// plainRole: its text is text, nothing else matters.
	plainRole role = iota
	// blockRole begins and ends on a line of its own.
	blockRole
	// cellRole is parted from its neighbours by a space.
	cellRole
	// figureRole and captionRole are blocks, too.
	figureRole
	captionRole
	breakRole
	preRole
	headingRole
	titleRole
	// skippedRole: only the text and links of a shadow root in it count.
	skippedRole
	noscriptRole
	foreignRole
	// frameRole: a link whose contents are for those who see no frames.
	frameRole
	anchorRole
	areaRole
	imageRole
	// inputRole may be an image.
	inputRole
	mediaRole
	formRole
	scriptRole
	linkRole
	metaRole
	baseRole
	rootRole
)

// roleOf classifies an element by its name (WHATWG HTML, rendering: flow
// content and tables; phrasing content has no role).
func roleOf(name atom.Atom) role {
	switch name {
	case 0, atom.Span, atom.Code, atom.Em, atom.Strong, atom.B, atom.I, atom.Tt:
		return plainRole
	case atom.A:
		return anchorRole
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body,
		atom.Caption, atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir,
		atom.Div, atom.Dl, atom.Dt, atom.Fieldset,
		atom.Footer, atom.Header, atom.Hgroup, atom.Hr, atom.Legend,
		atom.Li, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.Optgroup,
		atom.Option, atom.P, atom.Search, atom.Section, atom.Select, atom.Summary, atom.Table,
		atom.Tbody, atom.Tfoot, atom.Thead, atom.Tr, atom.Ul:
		return blockRole
	case atom.Figure:
		return figureRole
	case atom.Figcaption:
		return captionRole
	case atom.Td, atom.Th:
		return cellRole
	case atom.Br:
		return breakRole
	case atom.Pre, atom.Listing, atom.Plaintext, atom.Xmp:
		return preRole
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return headingRole
	case atom.Title:
		return titleRole
	case atom.Script:
		return scriptRole
	case atom.Form:
		return formRole
	case atom.Input:
		return inputRole
	case atom.Audio, atom.Video, atom.Source, atom.Track, atom.Embed:
		return mediaRole
	case atom.Style, atom.Template, atom.Noembed, atom.Textarea:
		return skippedRole
	case atom.Noscript, atom.Noframes:
		return noscriptRole
	case atom.Iframe, atom.Frame:
		return frameRole
	case atom.Area:
		return areaRole
	case atom.Img:
		return imageRole
	case atom.Link:
		return linkRole
	case atom.Meta:
		return metaRole
	case atom.Base:
		return baseRole
	case atom.Html:
		return rootRole
	case atom.Svg, atom.Math:
		return foreignRole
	}
	return plainRole
}

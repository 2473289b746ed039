package parse

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// mutes reports whether a browser shows nothing of an element's contents (WHATWG
// HTML, rendering: hidden elements; and the fallbacks of media, meters and progress
// bars, for those who have none). Its links count all the same: menus that are opened by a script
// are hidden until then. So may be a whole body, which is shown by its script.
func (c *collector) mutes(name atom.Atom, attrs []html.Attribute) bool {
	switch name {
	case atom.Audio, atom.Video, atom.Canvas, atom.Datalist, atom.Meter, atom.Progress, atom.Rp:
		return true
	case atom.Annotation, atom.AnnotationXml: // what a formula is in TeX, for one (MathML Core)
		if c.foreign > 0 {
			return true
		}
	case atom.Dialog:
		if _, open := lookup(attrs, "open"); !open {
			return true
		}
	case atom.Body, atom.Html, atom.Head, atom.Template: // a shadow root has no attributes
		return false
	}
	for i := range attrs {
		switch attrs[i].Key {
		case "hidden":
			// Of what is hidden until it is found, the finding is the point.
			if !strings.EqualFold(attrs[i].Val, "until-found") {
				return true
			}
		case "popover": // an open dialog is shown nevertheless
			if name != atom.Dialog {
				return true
			}
		}
	}
	return false
}

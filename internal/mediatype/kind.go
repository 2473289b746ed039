package mediatype

import "strings"

// IsHTML tells whether a media type is of HTML or XHTML.
func IsHTML(essence string) bool { return essence == "text/html" || essence == "application/xhtml+xml" }

// IsOffice tells whether a media type is of a file of an office program: Word, Excel and
// PowerPoint since 2007, OpenDocument, EPUB, RTF. It has the templates and the files with macros,
// which are read as the others.
func IsOffice(essence string) bool {
	switch essence {
	case "application/epub+zip", "application/rtf", "application/x-rtf", "text/rtf", "text/richtext":
		return true
	}
	for _, prefix := range []string{
		"application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument.", "application/vnd.ms-word.", "application/vnd.ms-excel.",
		"application/vnd.ms-powerpoint.",
	} {
		if strings.HasPrefix(essence, prefix) {
			return true
		}
	}
	return false
}

// IsFile tells whether a media type is of a file that can only be read whole, and that is larger
// than a page: PDF and files of office programs.
func IsFile(essence string) bool { return essence == "application/pdf" || IsOffice(essence) }

package webserver

import (
	"errors"
	"fmt"
	"html"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// TreeOptions name real documents to be served as a web.
type TreeOptions struct {
	// Dir is the root of the documents. Symbolic links are followed.
	Dir string
	// Domains that each serve all of Dir. Default 1.
	Domains int
	// Robots is the robots.txt of every domain; empty: there is none.
	Robots string
	// Deny is the path prefix that Robots denies, for Denied; empty: none.
	Deny string
}

// Tree serves a directory on several domains, as a simple file server does: a directory
// is its index.html, or a list of its entries if it has none. A URL without the trailing
// slash redirects.
type Tree struct{ options TreeOptions }

// NewTree checks that there is a directory to serve.
func NewTree(options TreeOptions) (*Tree, error) {
	if options.Domains == 0 {
		options.Domains = 1
	}
	if options.Domains < 1 || options.Domains > maxDomains {
		return nil, fmt.Errorf("domains %d: want 1 to %d", options.Domains, maxDomains)
	}
	info, err := os.Stat(options.Dir)
	if err != nil {
		return nil, fmt.Errorf("serve a directory: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("serve a directory: %s is not a directory", options.Dir)
	}
	return &Tree{options}, nil
}

// Domains implements Site.
func (t *Tree) Domains() []string { return addresses(t.options.Domains) }

// Denied reports whether robots.txt denies the path.
func (t *Tree) Denied(_, path string) bool {
	return t.options.Deny != "" && strings.HasPrefix(path, t.options.Deny)
}

// Answer implements Site.
func (t *Tree) Answer(domain string, _ int, target string, _ []byte) Response {
	if d, ok := domainNumber(domain); !ok || d >= t.options.Domains {
		return text(http.StatusMisdirectedRequest, "no such domain\n")
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return text(http.StatusBadRequest, "bad request\n")
	}
	if u.Path == robotsPath {
		if t.options.Robots == "" {
			return text(http.StatusNotFound, "not found\n")
		}
		return text(http.StatusOK, t.options.Robots)
	}
	return t.file(u.Path)
}

// file answers for a decoded path.
func (t *Tree) file(p string) Response {
	if strings.ContainsRune(p, 0) {
		return text(http.StatusBadRequest, "bad request\n")
	}
	name := filepath.Join(t.options.Dir, filepath.FromSlash(path.Clean("/"+p)))
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return fileError(err)
	case info.IsDir() && !strings.HasSuffix(p, "/"):
		return Response{Status: http.StatusMovedPermanently, Location: (&url.URL{Path: p + "/"}).EscapedPath()}
	case info.IsDir():
		return t.directory(name)
	case strings.HasSuffix(p, "/"):
		return text(http.StatusNotFound, "not found\n")
	}
	return read(name)
}

// document is the file that a path shows; the path itself if there is none.
func (t *Tree) document(target string) string {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return target
	}
	name := filepath.Join(t.options.Dir, filepath.FromSlash(path.Clean("/"+u.Path)))
	if index := filepath.Join(name, "index.html"); strings.HasSuffix(u.Path, "/") && isFile(index) {
		return index
	}
	return name
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

func (t *Tree) directory(name string) Response {
	index := filepath.Join(name, "index.html")
	if isFile(index) {
		return read(index)
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return fileError(err)
	}
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<title>Index</title>\n<ul>\n")
	for _, e := range entries {
		s := e.Name()
		if info, err := os.Stat(filepath.Join(name, s)); err != nil {
			continue // a symbolic link to nothing
		} else if info.IsDir() {
			s += "/"
		}
		// "./" keeps a colon in the name from looking like a scheme.
		fmt.Fprintf(&b, "<li><a href=\"./%s\">%s</a></li>\n", html.EscapeString((&url.URL{Path: s}).EscapedPath()), html.EscapeString(s))
	}
	b.WriteString("</ul>\n")
	return Response{Status: http.StatusOK, Type: htmlType, Body: []byte(b.String())}
}

const htmlType = "text/html; charset=utf-8"

func read(name string) Response {
	body, err := os.ReadFile(name)
	if err != nil {
		return fileError(err)
	}
	return Response{Status: http.StatusOK, Type: contentType(name, body), Body: body}
}

// contentType is the type by the extension of the name, or by the content if the
// extension is not known. Compressed documents are served as such, without
// Content-Encoding.
func contentType(name string, body []byte) string {
	switch ext := filepath.Ext(name); ext {
	case ".gz":
		return "application/gzip"
	case ".html", ".htm":
		// Without a charset: the documents state their own.
		return "text/html"
	default:
		if t := mime.TypeByExtension(ext); t != "" {
			return t
		}
	}
	return http.DetectContentType(body)
}

func fileError(err error) Response {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return text(http.StatusNotFound, "not found\n")
	case errors.Is(err, fs.ErrPermission):
		return text(http.StatusForbidden, "forbidden\n")
	}
	return text(http.StatusInternalServerError, "cannot read\n")
}

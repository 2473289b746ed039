package table

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/processors/archive/warc"
)

// Row is a response. Its columns are those of the index of Common Crawl, in their order. Weft does not
// fill in fetch_redirect, because indexes do not have it. warc_record_offset has 64 bits, because a
// file may be larger than 2 GB.
type Row struct {
	SURT             string    `parquet:"url_surtkey,zstd"`
	URL              string    `parquet:"url,zstd"`
	Host             string    `parquet:"url_host_name,dict,zstd"`
	TLD              *string   `parquet:"url_host_tld,optional,dict,zstd"`
	SecondLast       *string   `parquet:"url_host_2nd_last_part,optional,dict,zstd"`
	ThirdLast        *string   `parquet:"url_host_3rd_last_part,optional,dict,zstd"`
	FourthLast       *string   `parquet:"url_host_4th_last_part,optional,dict,zstd"`
	FifthLast        *string   `parquet:"url_host_5th_last_part,optional,dict,zstd"`
	RegistrySuffix   *string   `parquet:"url_host_registry_suffix,optional,dict,zstd"`
	RegisteredDomain *string   `parquet:"url_host_registered_domain,optional,dict,zstd"`
	PrivateSuffix    *string   `parquet:"url_host_private_suffix,optional,dict,zstd"`
	PrivateDomain    *string   `parquet:"url_host_private_domain,optional,dict,zstd"`
	Reversed         *string   `parquet:"url_host_name_reversed,optional,dict,zstd"`
	Protocol         string    `parquet:"url_protocol,dict,zstd"`
	Port             *int32    `parquet:"url_port,optional,zstd"`
	Path             string    `parquet:"url_path,zstd"`
	Query            *string   `parquet:"url_query,optional,zstd"`
	FetchTime        time.Time `parquet:"fetch_time,timestamp(millisecond),zstd"`
	FetchStatus      int16     `parquet:"fetch_status,dict,zstd"`
	FetchRedirect    *string   `parquet:"fetch_redirect,optional,zstd"`
	Digest           *string   `parquet:"content_digest,optional,zstd"`
	MIMEType         *string   `parquet:"content_mime_type,optional,dict,zstd"`
	MIMEDetected     *string   `parquet:"content_mime_detected,optional,dict,zstd"`
	Charset          *string   `parquet:"content_charset,optional,dict,zstd"`
	Languages        *string   `parquet:"content_languages,optional,dict,zstd"`
	Truncated        *string   `parquet:"content_truncated,optional,dict,zstd"`
	File             string    `parquet:"warc_filename,dict,zstd"`
	Offset           int64     `parquet:"warc_record_offset,zstd"`
	Length           int32     `parquet:"warc_record_length,zstd"`
	Segment          string    `parquet:"warc_segment,dict,zstd"`
	Crawl            string    `parquet:"crawl,dict,zstd"`
	Subset           string    `parquet:"subset,dict,zstd"`
}

// rowOf is the row of a line of an index.
func rowOf(l warc.Line, p page) Row {
	scheme, rest, _ := strings.Cut(l.URL, "://")
	end := len(rest)
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		end = i
	}
	authority, place := rest[:end], rest[end:]
	path, query, _ := strings.Cut(place, "?")
	status, _ := strconv.ParseInt(l.Status, 10, 16)
	r := Row{
		SURT: warc.SURT(l.URL), URL: l.URL, Protocol: scheme, Path: path, Query: some(query),
		FetchTime: l.Date, FetchStatus: int16(status), Digest: some(strings.TrimPrefix(l.Digest, "sha1:")), MIMEType: some(l.MIME),
		MIMEDetected: some(p.MediaType), Charset: some(p.Charset), Languages: some(warc.Language(p.Language)),
		File: l.File, Offset: l.Offset, Length: int32(l.Length), Subset: subsetOf(path, int(status)),
	}
	if p.Truncated {
		r.Truncated = some("length")
	}
	r.Segment, r.Crawl = segmentOf(l.File)
	r.host(authority)
	return r
}

// some is a text that may be absent.
func some(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// host fills in the columns about the host. A host with an address has no parts and no domain.
func (r *Row) host(authority string) {
	r.Host = authority
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') { // not one of IPv6
		if port, err := strconv.ParseUint(authority[i+1:], 10, 16); err == nil {
			r.Host, r.Port = authority[:i], new(int32(port))
		}
	}
	domain := urls.BundledSuffixes().Domain(r.Host)
	if strings.HasPrefix(r.Host, "[") || strings.Trim(r.Host, "0123456789.") == "" {
		return
	}
	labels := strings.Split(r.Host, ".")
	slices.Reverse(labels)
	r.Reversed = some(strings.Join(labels, "."))
	for i, part := range []**string{&r.TLD, &r.SecondLast, &r.ThirdLast, &r.FourthLast, &r.FifthLast} {
		if i < len(labels) {
			*part = some(labels[i])
		}
	}
	private, icann := publicsuffix.PublicSuffix(r.Host)
	r.PrivateSuffix = some(private)
	if domain != private {
		r.PrivateDomain = some(domain)
	}
	registry := private
	for !icann && strings.Contains(registry, ".") {
		_, registry, _ = strings.Cut(registry, ".")
		registry, icann = publicsuffix.PublicSuffix(registry)
	}
	r.RegistrySuffix = some(registry)
	if before, ok := strings.CutSuffix(r.Host, "."+registry); ok {
		r.RegisteredDomain = some(before[strings.LastIndexByte(before, '.')+1:] + "." + registry)
	}
}

// subsetOf is the part of the index of Common Crawl in which a response would be.
func subsetOf(path string, status int) string {
	switch {
	case path == "/robots.txt":
		return "robotstxt"
	case status == http.StatusOK:
		return "warc"
	}
	return "crawldiagnostics"
}

// chain matches the stem of a file: the crawl, the topic and the partition, and the first offset.
var chain = regexp.MustCompile(`^((.+)-[0-9a-f]{12}-\d{5})-\d{15}(?:-\d+)?$`)

// segmentOf is the chain of files that a file is in, and its crawl.
func segmentOf(file string) (segment, crawl string) {
	stem := archive.Stem(file)
	if parts := chain.FindStringSubmatch(stem); parts != nil {
		return parts[1], parts[2]
	}
	return stem, ""
}

package warc

import "fmt"

// Derived is what a program made of a response. Its file is another one than that of the response.
type Derived struct {
	// Type is conversion, for the same content in another format, or metadata.
	Type string
	// Of is the record of the response.
	Of Record
	// ContentType is that of Block.
	ContentType string
	// Languages of a conversion, in ISO 639-3, separated by commas; empty: not known.
	Languages string
	Block     []byte
}

// languagesField is how Common Crawl names the languages of a page.
const languagesField = "WARC-Identified-Content-Language"

// AddDerived adds a record of what was made of a response.
func (f *File) AddDerived(d Derived) error {
	date, err := d.Of.Date()
	if err != nil {
		return err
	}
	target, of := d.Of.Field("WARC-Target-URI"), d.Of.Field("WARC-Record-ID")
	r := record{head: d.Block, fields: []Field{
		{"WARC-Type", d.Type}, {"WARC-Record-ID", idOf(of, target, date.UnixMilli(), d.Type+" "+d.ContentType)},
		{"WARC-Target-URI", target}, {"WARC-Date", date.UTC().Format(dateFormat)}, {"WARC-Refers-To", of},
		{"Content-Type", d.ContentType},
	}}
	if d.Languages != "" {
		r.fields = append(r.fields, Field{languagesField, d.Languages})
	}
	if err := f.write(&r); err != nil {
		return fmt.Errorf("write WARC: %w", err)
	}
	return nil
}

package reparse

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/weftcrawl/weft/codecs"
)

// columnsOf are members that have several columns, or one of another name. Each has all members of its
// object.
var columnsOf = map[string][]string{
	"robots":       {"noindex", "nofollow", "noarchive", "nosnippet", "unavailable_after"},
	"archived":     {"archived_partition", "archived_offset"},
	"duplicate_of": {"duplicate_of_id", "duplicate_of_url", "duplicate_of_distance"},
}

// leftOut are members of links without a column: most links do not have them.
var leftOut = []string{"caption", "element", "hreflang"}

// names are those in a tag of the fields of a struct.
func names(of reflect.Type, tag string) (all []string) {
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get(tag), ",")
		all = append(all, name)
	}
	return all
}

// Each member of a record of parsed has a column.
func TestEachMemberHasAColumn(t *testing.T) {
	columns := names(reflect.TypeFor[Row](), "parquet")
	record := reflect.TypeFor[codecs.Parsed]()
	for i, member := range names(record, "json") {
		want, split := columnsOf[member]
		if split {
			object := record.Field(i).Type
			if object.Kind() == reflect.Pointer {
				object = object.Elem()
			}
			if object.NumField() != len(want) {
				t.Errorf("%s has %d members, and %d columns", member, object.NumField(), len(want))
			}
		} else {
			want = []string{member}
		}
		for _, column := range want {
			if !slices.Contains(columns, column) {
				t.Errorf("%s has no column %s", member, column)
			}
		}
	}
	links := names(reflect.TypeFor[LinkRow](), "parquet")
	for _, member := range names(reflect.TypeFor[codecs.ParsedLink](), "json") {
		if there := slices.Contains(links, member); there == slices.Contains(leftOut, member) {
			t.Errorf("the member %s of a link is in a column: %t", member, there)
		}
	}
}

// fillIn gives each field of a value something that is not its zero value.
func fillIn(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		if v.Type().Elem().PkgPath() == reflect.TypeFor[codecs.Parsed]().PkgPath() && v.Type() != reflect.TypeFor[*codecs.ParsedStructuredData]() {
			fillIn(v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0).UTC()))
			return
		}
		for i := range v.NumField() {
			fillIn(v.Field(i))
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte("{}"))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillIn(v.Index(0))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"search": "y"}))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint32, reflect.Uint8:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	}
}

// A page that has all fields fills all columns, and they are read back.
func TestEachColumnIsFilled(t *testing.T) {
	var p codecs.Parsed
	fillIn(reflect.ValueOf(&p).Elem())
	row, err := rowOf(&p)
	if err != nil {
		t.Fatal(err)
	}
	v := reflect.ValueOf(row)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s is empty", v.Type().Field(i).Name)
		}
	}
	var file bytes.Buffer
	out := newColumns(&file)
	if err := cmp.Or(out.add(page{line: p.AppendJSON(nil)}), out.close()); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[Row](bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil || len(rows) != 1 || !reflect.DeepEqual(rows[0], row) {
		t.Errorf("%v: %+v, want %+v", err, rows, row)
	}
}

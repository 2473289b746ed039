package codecs_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

var update = flag.Bool("update", false, "write golden files")

// messages are the records of the loop, and the bodies of events.
var messages = []proto.Message{
	&weftpb.Discovered{}, &weftpb.Normalized{}, &weftpb.Event{}, &weftpb.Deduped{}, &weftpb.Scheduled{},
	&weftpb.Fetched{}, &weftpb.Visited{}, &weftpb.Rejected{},
}

// TestWireCompatibility decodes records as earlier versions of this program
// wrote them: ledgers keep them for years. testdata/wire/Name.N.hex is the
// record and Name.N.json what it means; neither is ever rewritten. A field that
// no golden record has fails the test until -update adds a record N+1.
func TestWireCompatibility(t *testing.T) {
	for _, m := range messages {
		name := string(m.ProtoReflect().Descriptor().Name())
		t.Run(name, func(t *testing.T) {
			seen := map[protoreflect.FullName]bool{}
			n := 0
			for {
				raw, err := os.ReadFile(golden(name, n+1, "hex"))
				if err != nil {
					break
				}
				n++
				decodeGolden(t, m, name, n, raw, seen)
			}
			if missing := unseen(m.ProtoReflect().Descriptor(), seen); len(missing) > 0 {
				if !*update {
					t.Fatalf("no golden record has %v; run with -update to add one", missing)
				}
				writeGolden(t, m, name, n+1)
			}
		})
	}
}

func golden(name string, n int, ext string) string {
	return filepath.Join("testdata", "wire", fmt.Sprintf("%s.%d.%s", name, n, ext))
}

func decodeGolden(t *testing.T, m proto.Message, name string, n int, raw []byte, seen map[protoreflect.FullName]bool) {
	t.Helper()
	wire, err := hex.DecodeString(strings.Join(strings.Fields(string(raw)), ""))
	if err != nil {
		t.Fatal(err)
	}
	got := m.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(wire, got); err != nil {
		t.Fatalf("%s.%d: %v", name, n, err)
	}
	meaning, err := os.ReadFile(golden(name, n, "json"))
	if err != nil {
		t.Fatal(err)
	}
	want := m.ProtoReflect().New().Interface()
	if err := protojson.Unmarshal(meaning, want); err != nil {
		t.Fatalf("%s.%d: %v", name, n, err)
	}
	if !proto.Equal(got, want) {
		t.Errorf("%s.%d means\n%s\nbut is decoded as\n%s", name, n, protojson.Format(want), protojson.Format(got))
	}
	again, err := proto.MarshalOptions{Deterministic: true}.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, wire) {
		t.Errorf("%s.%d is encoded otherwise now:\n%x\nbefore:\n%x", name, n, again, wire)
	}
	visit(got.ProtoReflect(), func(fd protoreflect.FieldDescriptor) { seen[fd.FullName()] = true })
}

func writeGolden(t *testing.T, m proto.Message, name string, n int) {
	t.Helper()
	full := m.ProtoReflect().New()
	counter := 0
	fill(full, &counter)
	wire, err := proto.MarshalOptions{Deterministic: true}.Marshal(full.Interface())
	if err != nil {
		t.Fatal(err)
	}
	compact, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(full.Interface())
	if err != nil {
		t.Fatal(err)
	}
	var meaning bytes.Buffer
	if err := json.Indent(&meaning, compact, "", "  "); err != nil {
		t.Fatal(err)
	}
	meaning.WriteByte('\n')
	if err := os.MkdirAll(filepath.Join("testdata", "wire"), 0o755); err != nil {
		t.Fatal(err)
	}
	for ext, content := range map[string][]byte{"hex": []byte(wrap(hex.EncodeToString(wire))), "json": meaning.Bytes()} {
		if err := os.WriteFile(golden(name, n, ext), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func wrap(s string) string {
	var b strings.Builder
	for len(s) > 80 {
		b.WriteString(s[:80] + "\n")
		s = s[80:]
	}
	return b.String() + s + "\n"
}

// fill sets every field of m to something that no other field has. A message
// inside a message of the same kind stays empty.
func fill(m protoreflect.Message, counter *int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		*counter++
		switch {
		case fd.IsList() && fd.Message() != nil:
			fill(m.Mutable(fd).List().AppendMutable().Message(), counter)
		case fd.IsList():
			m.Mutable(fd).List().Append(scalar(fd, *counter))
		case fd.Message() != nil && fd.Message().FullName() == m.Descriptor().FullName():
			m.Mutable(fd)
		case fd.Message() != nil:
			fill(m.Mutable(fd).Message(), counter)
		default:
			m.Set(fd, scalar(fd, *counter))
		}
	}
}

func scalar(fd protoreflect.FieldDescriptor, n int) protoreflect.Value {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(fmt.Sprintf("%s é %d", fd.Name(), n))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte{0, 0xff, byte(n)})
	case protoreflect.EnumKind:
		values := fd.Enum().Values()
		return protoreflect.ValueOfEnum(values.Get(values.Len() - 1).Number())
	case protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(1<<63 + uint64(n))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(1<<31 + uint32(n))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(-int32(n))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(-1<<40 - int64(n))
	}
	panic(fmt.Sprintf("no value for %s of kind %s", fd.FullName(), fd.Kind()))
}

// visit calls f for every field that is set in m and below.
func visit(m protoreflect.Message, f func(protoreflect.FieldDescriptor)) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		f(fd)
		switch {
		case fd.IsList() && fd.Message() != nil:
			for i := range v.List().Len() {
				visit(v.List().Get(i).Message(), f)
			}
		case fd.Message() != nil:
			visit(v.Message(), f)
		}
		return true
	})
}

// unseen returns the fields of md, and of the messages in it, that are not in
// seen.
func unseen(md protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) (missing []protoreflect.FullName) {
	fields := md.Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if !seen[fd.FullName()] {
			missing = append(missing, fd.FullName())
		}
		if fd.Message() != nil && fd.Message().FullName() != md.FullName() {
			missing = append(missing, unseen(fd.Message(), seen)...)
		}
	}
	return missing
}

package archive

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// A record is decoded as the library decodes it, with its bodies and without, and its bodies
// are not copied.
func TestDecode(t *testing.T) {
	for _, x := range []*weftpb.Fetched{
		{}, exchange(1), {Robots: exchange(2), RobotsOf: &weftpb.RobotsOf{Origin: "http://k.example"}},
		{Id: "a", Body: []byte("body"), CodedBody: []byte("coded"), Location: "http://k.example/b"},
	} {
		value, err := proto.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(value)
		if err != nil || !proto.Equal(got, x) {
			t.Errorf("%v, %v", got, err)
		}
		if len(x.Body) > 0 {
			clear(value)
			if got.Body[0] != 0 {
				t.Error("the body was copied")
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	value, err := proto.Marshal(exchange(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(value)
	f.Add(append(value, value...))
	f.Fuzz(func(t *testing.T, value []byte) {
		var want weftpb.Fetched
		wanted := proto.Unmarshal(value, &want)
		got, err := decode(value)
		if (err == nil) != (wanted == nil) || err == nil && !proto.Equal(got, &want) {
			t.Errorf("%v, %v, want %v, %v", got, err, &want, wanted)
		}
	})
}

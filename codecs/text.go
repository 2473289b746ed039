package codecs

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// LogRecord is a record of any topic of the loop, as it is in its log.
type LogRecord struct {
	// Topic is the name without the crawl: "scheduled".
	Topic      string
	Partition  int32
	Offset     int64
	Timestamp  time.Time
	Key, Value []byte
	Headers    []Header
}

// Header is a header of a record.
type Header struct {
	Name  string
	Value []byte
}

// AppendText appends the record as one line of JSON, without the line's end:
//
//	{"topic":"visited","partition":3,"offset":17,"time":"2026-11-21T05:00:00.000Z","key":"example.com","value":{…}}
//
// Headers, if there are any, are between key and value, as an object with their
// names, "headers":{"crawl":"weft",…}. If two headers have the same name, so have two
// members of the object.
//
// A value in protobuf has the names of its schema, 64-bit numbers as strings, and
// bytes in base64; the body of a ledger's event is decoded. A value in JSON is copied.
// A value of seeds is a string. A value that its topic cannot have becomes
// {"undecodable":"<base64>"}, and so does a key or a header that is not text. It never
// fails.
func AppendText(dst []byte, r LogRecord) []byte {
	dst = append(dst, `{"topic":`...)
	dst = appendValue(dst, r.Topic)
	dst = append(dst, `,"partition":`...)
	dst = strconv.AppendInt(dst, int64(r.Partition), 10)
	dst = append(dst, `,"offset":`...)
	dst = strconv.AppendInt(dst, r.Offset, 10)
	dst = append(dst, `,"time":"`...)
	dst = r.Timestamp.UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z")
	dst = append(dst, `","key":`...)
	dst = appendPlain(dst, r.Key)
	for i, h := range r.Headers {
		if i == 0 {
			dst = append(dst, `,"headers":{`...)
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendValue(dst, h.Name), ':')
		dst = appendPlain(dst, h.Value)
	}
	if len(r.Headers) > 0 {
		dst = append(dst, '}')
	}
	dst = append(dst, `,"value":`...)
	if text, ok := valueText(r.Topic, r.Value); ok {
		dst = append(dst, text...)
	} else {
		dst = appendUndecodable(dst, r.Value)
	}
	return append(dst, '}')
}

// appendPlain appends a key or a header. Those that Weft writes are text.
func appendPlain(dst, raw []byte) []byte {
	switch {
	case raw == nil:
		return append(dst, "null"...)
	case utf8.Valid(raw):
		return appendValue(dst, string(raw))
	}
	return appendUndecodable(dst, raw)
}

func appendUndecodable(dst, raw []byte) []byte {
	dst = append(dst, `{"undecodable":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, raw)
	return append(dst, `"}`...)
}

func valueText(topic string, value []byte) (text []byte, ok bool) {
	switch topic {
	case "config", "parsed":
		return compact(value)
	case "seeds":
		if !utf8.Valid(value) {
			return nil, false
		}
		return appendValue(nil, strings.TrimRight(string(value), "\r\n")), true
	case "discovered":
		return protoText(value, &weftpb.Discovered{})
	case "normalized":
		return protoText(value, &weftpb.Normalized{})
	case "deduped":
		return eventText(value, &weftpb.Deduped{})
	case "scheduled":
		return eventText(value, &weftpb.Scheduled{})
	case "fetched":
		return protoText(value, &weftpb.Fetched{})
	case "visited":
		return protoText(value, &weftpb.Visited{})
	case "rejected":
		return protoText(value, &weftpb.Rejected{})
	}
	return nil, false
}

func compact(value []byte) ([]byte, bool) {
	var line bytes.Buffer
	if err := json.Compact(&line, value); err != nil || line.Len() == 0 {
		return nil, false
	}
	return line.Bytes(), true
}

// protoText decodes value into m and returns m as JSON.
func protoText(value []byte, m proto.Message) ([]byte, bool) {
	if proto.Unmarshal(value, m) != nil {
		return nil, false
	}
	return messageText(m)
}

func messageText(m proto.Message) ([]byte, bool) {
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		return nil, false
	}
	return compact(text) // protojson adds white space at random
}

// eventText decodes an event of a ledger and its body, a message like body.
func eventText(value []byte, body proto.Message) ([]byte, bool) {
	var ev weftpb.Event
	if proto.Unmarshal(value, &ev) != nil {
		return nil, false
	}
	if len(ev.Body) == 0 {
		return messageText(&ev)
	}
	inner, ok := protoText(ev.Body, body)
	if !ok {
		return nil, false
	}
	ev.Body = nil
	text, ok := messageText(&ev)
	if !ok {
		return nil, false
	}
	text = text[:len(text)-1] // the closing brace
	if len(text) > 1 {
		text = append(text, ',')
	}
	text = append(append(text, `"body":`...), inner...)
	return append(text, '}'), true
}

package httpclient

import (
	"strings"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
)

// Exchange is the outcome of one request.
type Exchange struct {
	// URL is the URL of the request.
	URL string
	// Class names what went wrong; empty when the response was read.
	Class Class
	// Error says for people what went wrong; empty with an empty Class.
	Error string

	// Status is 0 without a response header.
	Status int
	// Proto is the protocol of the response, "HTTP/1.1" or "HTTP/2.0".
	Proto string
	// RequestHeaders are as sent, in order. For HTTP/2 the names are in lower
	// case, :authority is named Host, and the other pseudo-fields are left out.
	RequestHeaders []Header
	// Headers are the fields of the response: for HTTP/1.1 in the order and spelling of the
	// server, for HTTP/2 sorted by name.
	Headers []Header
	// RequestHead and ResponseHead are the bytes on the wire of both, to the empty line;
	// nil for HTTP/2 and above maxHeadBytes. They are read only.
	RequestHead, ResponseHead []byte
	// Body has its content codings removed. Headers still name them.
	Body []byte
	// CodedBody is the body with its content codings; nil if it has no coding, was cut, or
	// Options.KeepCoded is false.
	CodedBody []byte
	// Stored is where the caller has stored the body, in both forms. Then the record refers to
	// it. Nil: the record holds the body.
	Stored *weftpb.BodyReference
	// Truncated: the body was cut at a limit.
	Truncated bool
	// WireBytes counts the body before decoding, without chunk framing.
	WireBytes int64
	// Location is the target of a redirect: an absolute URL, or, if it is no URL of
	// a crawl, what the server wrote.
	Location string
	// RetryAfter is between 0 and 24 h.
	RetryAfter time.Duration

	// Started is the wall clock at the beginning.
	Started time.Time
	// Recorded is when the exchange was made, if it comes from an archive; zero: it does not.
	Recorded time.Time
	// DNS is how long the exchange waited for the addresses of its host: near 0 when
	// they were cached, and 0 on a kept connection. It includes Request.LookedUp, which lies
	// before Started. Connect, which includes TLS and not DNS,
	// is 0 on a kept connection and without a connection attempt. FirstByte is from the connection
	// to the first byte of the response, Total is the whole exchange.
	DNS, Connect, FirstByte, Total time.Duration
	// Remote is the peer's address, "ip:port"; empty without a connection.
	Remote string
	// Reused: the connection had served before.
	Reused bool

	reservation *reservation // see Release
}

// Release tells that Body is not needed any more. Other exchanges with large bodies may
// wait for its memory; see Options.LargeBodyBytes. Release may be called more than once.
func (x *Exchange) Release() { x.reservation.release() }

// Values returns the values of a response header, one for each of its lines. The name is
// compared without regard to case.
func (x *Exchange) Values(name string) (values []string) {
	for _, h := range x.Headers {
		if strings.EqualFold(h.Name, name) {
			values = append(values, h.Value)
		}
	}
	return values
}

// Outcome returns the record of the outcome; Index is the caller's to set.
func (x *Exchange) Outcome() *weftpb.Outcome {
	return &weftpb.Outcome{
		Status:       uint32(x.Status),
		ErrorClass:   string(x.Class),
		Error:        x.Error,
		StartedMs:    x.Started.UnixMilli(),
		DnsUs:        x.DNS.Microseconds(),
		ConnectUs:    x.Connect.Microseconds(),
		FirstByteUs:  x.FirstByte.Microseconds(),
		TotalUs:      x.Total.Microseconds(),
		WireBytes:    x.WireBytes,
		BodyBytes:    int64(len(x.Body)),
		Truncated:    x.Truncated,
		RetryAfterMs: x.RetryAfter.Milliseconds(),
	}
}

// Fetched returns the record of the exchange. It shares the body, unless the body is stored
// elsewhere, and has the coded body if there is room; Id, Request, Visit and the outcome's
// Index are the caller's to set.
func (x *Exchange) Fetched() *weftpb.Fetched {
	body, coded := x.Body, x.CodedBody
	if x.Stored != nil {
		body, coded = nil, nil
	}
	if int64(len(body)+len(coded)) > topics.LargestInRecord {
		coded = nil
	}
	var recordedMS int64
	if !x.Recorded.IsZero() {
		recordedMS = x.Recorded.UnixMilli()
	}
	return &weftpb.Fetched{
		Outcome:        x.Outcome(),
		RecordedMs:     recordedMS,
		Proto:          x.Proto,
		RequestHeaders: headerRecords(x.RequestHeaders),
		Headers:        headerRecords(x.Headers),
		RequestHead:    x.RequestHead,
		ResponseHead:   x.ResponseHead,
		Body:           body,
		CodedBody:      coded,
		Stored:         x.Stored,
		Remote:         x.Remote,
		Location:       x.Location,
	}
}

func headerRecords(list []Header) []*weftpb.Header {
	block := make([]weftpb.Header, len(list)) // one allocation for all
	records := make([]*weftpb.Header, len(list))
	for i, h := range list {
		block[i].Name, block[i].Value = h.Name, h.Value
		records[i] = &block[i]
	}
	return records
}

func (x *Exchange) fail(err error) {
	x.Class, x.Error = Classify(err), textOf(err)
}

package accesslog

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"time"
)

// number is a JSON number, or a string that holds one.
type number string

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(raw []byte) error {
	if len(raw) > 1 && raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(n))
	}
	*n = number(raw)
	return nil
}

func jsonLine(line string) (Entry, error) {
	var l struct {
		Time        number `json:"time"`
		Msec        number `json:"msec"`
		RequestTime number `json:"request_time"`
		Host        string `json:"host"`
		URI         string `json:"uri"`
		Status      number `json:"status"`
		UserAgent   string `json:"user_agent"`
		Server      string `json:"server_addr"`
	}
	if err := json.Unmarshal([]byte(line), &l); err != nil {
		return Entry{}, err
	}
	if l.URI == "" {
		return Entry{}, errors.New("no uri")
	}
	e := Entry{Host: l.Host, Path: l.URI, Agent: l.UserAgent}
	var took int64
	var err error
	if l.Server != "" {
		if e.Server, err = netip.ParseAddr(l.Server); err != nil {
			return Entry{}, err
		}
	}
	if l.RequestTime != "" {
		if took, err = seconds(string(l.RequestTime)); err != nil {
			return Entry{}, err
		}
	}
	switch {
	case l.Msec != "":
		e.End, err = seconds(string(l.Msec))
		e.Start = e.End - took
	case l.Time != "":
		e.Start, err = moment(string(l.Time))
		e.End = e.Start + took
	default:
		err = errors.New("msec and time are missing")
	}
	if err != nil {
		return Entry{}, err
	}
	e.Status, err = strconv.Atoi(string(l.Status))
	return e, err
}

// moment reads RFC 3339, or seconds since 1970, as microseconds.
func moment(text string) (int64, error) {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at.UnixMicro(), nil
	}
	return seconds(text)
}

func caddy(line string) (Entry, error) {
	var l struct {
		TS       float64 `json:"ts"`
		Duration float64 `json:"duration"`
		Status   int     `json:"status"`
		Request  struct {
			Host    string              `json:"host"`
			URI     string              `json:"uri"`
			Headers map[string][]string `json:"headers"`
		} `json:"request"`
	}
	if err := json.Unmarshal([]byte(line), &l); err != nil {
		return Entry{}, err
	}
	if l.Request.URI == "" || math.Abs(l.TS) > maxSeconds || math.Abs(l.Duration) > maxSeconds {
		return Entry{}, fmt.Errorf("no request at %v for %v s", l.TS, l.Duration)
	}
	e := Entry{End: int64(l.TS * 1e6), Host: l.Request.Host, Path: l.Request.URI, Status: l.Status}
	e.Start = e.End - int64(l.Duration*1e6)
	if agents := l.Request.Headers["User-Agent"]; len(agents) > 0 {
		e.Agent = agents[0]
	}
	return e, nil
}

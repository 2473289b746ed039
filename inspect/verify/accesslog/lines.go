package accesslog

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

var errFields = errors.New("too few fields")

// fields cuts a line at spaces; what stands in quotes or brackets is one field,
// without them. A backslash in quotes keeps the character after it.
func fields(line string) (all []string) {
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		switch line[0] {
		case '"':
			field, rest := quoted(line[1:])
			all, line = append(all, field), rest
		case '[':
			field, rest, _ := strings.Cut(line[1:], "]")
			all, line = append(all, field), rest
		default:
			field, rest, _ := strings.Cut(line, " ")
			all, line = append(all, field), rest
		}
	}
	return all
}

// quoted reads up to the closing quote.
func quoted(s string) (field, rest string) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// target returns what a request line asks for: the second of "GET /path HTTP/1.1".
func target(request string) (string, error) {
	parts := strings.Fields(request)
	if len(parts) < 2 {
		return "", fmt.Errorf("%q is not a request line", request)
	}
	return parts[1], nil
}

// combined is %h %l %u [%t] "%r" %>s %b "%{Referer}i" "%{User-Agent}i".
func combined(line string) (Entry, error) {
	f := fields(line)
	if len(f) < 9 {
		return Entry{}, errFields
	}
	at, err := time.Parse("02/Jan/2006:15:04:05 -0700", f[3])
	if err != nil {
		return Entry{}, err
	}
	path, err := target(f[4])
	if err != nil {
		return Entry{}, err
	}
	status, err := strconv.Atoi(f[5])
	return Entry{Start: at.UnixMicro(), End: at.UnixMicro(), Path: path, Status: status, Agent: f[8]}, err
}

// vcombined is %v:%p in front of combined.
func vcombined(line string) (Entry, error) {
	host, rest, ok := strings.Cut(line, " ")
	if !ok {
		return Entry{}, errFields
	}
	e, err := combined(rest)
	e.Host = host
	return e, err
}

// nginx is $msec $request_time $host "$request" $status "$http_user_agent".
func nginx(line string) (Entry, error) {
	f := fields(line)
	if len(f) < 6 {
		return Entry{}, errFields
	}
	end, err1 := seconds(f[0])
	took, err2 := seconds(f[1])
	path, err3 := target(f[3])
	status, err4 := strconv.Atoi(f[4])
	return Entry{Start: end - took, End: end, Host: f[2], Path: path, Status: status, Agent: f[5]}, errors.Join(err1, err2, err3, err4)
}

// tabs is $msec $remote_addr $server_addr $scheme $host $status $request_time $body_bytes_sent
// $request_method $request_uri $http_user_agent, and anything more, with tabs between them.
func tabs(line string) (Entry, error) {
	f := strings.Split(line, "\t")
	if len(f) < 11 {
		return Entry{}, errFields
	}
	end, err1 := seconds(f[0])
	server, err2 := netip.ParseAddr(f[2])
	status, err3 := strconv.Atoi(f[5])
	took, err4 := seconds(f[6])
	return Entry{Start: end - took, End: end, Host: f[4], Path: f[9], Status: status, Agent: f[10], Server: server}, errors.Join(err1, err2, err3, err4)
}

// weft is start and end in nanoseconds, host, status, path, agent.
func weft(line string) (Entry, error) {
	f := strings.SplitN(line, " ", 6)
	if len(f) != 6 {
		return Entry{}, errFields
	}
	start, err1 := strconv.ParseInt(f[0], 10, 64)
	end, err2 := strconv.ParseInt(f[1], 10, 64)
	status, err3 := strconv.Atoi(f[3])
	return Entry{Start: start / 1000, End: end / 1000, Host: f[2], Status: status, Path: f[4], Agent: f[5]}, errors.Join(err1, err2, err3)
}

// seconds reads "1700000000.123" as microseconds.
func seconds(text string) (int64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err == nil && !(n > -maxSeconds && n < maxSeconds) {
		err = fmt.Errorf("%q is not a number of seconds", text)
	}
	return int64(n * 1e6), err
}

// maxSeconds is far beyond any time, and within what fits as microseconds.
const maxSeconds = 1e11

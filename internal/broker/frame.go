package broker

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// frame is an encoded request without its size.
type frame []byte

// Offsets in a request's header (Kafka's "request header v1"): key, version,
// correlation id, client id.
const (
	versionAt     = 2
	correlationAt = 4
	clientIDAt    = 8
	clientIDEnd   = 10 // of its length
)

func (f frame) key() int16     { return int16(binary.BigEndian.Uint16(f)) }
func (f frame) version() int16 { return int16(binary.BigEndian.Uint16(f[versionAt:])) }

// header is the length of the header of a request whose version is not flexible.
func (f frame) header() (int, error) {
	length := int(int16(binary.BigEndian.Uint16(f[clientIDAt:])))
	if length < -1 || clientIDEnd+max(length, 0) > len(f) {
		return 0, fmt.Errorf("%w: a client id of %d bytes", errMalformed, length)
	}
	return clientIDEnd + max(length, 0), nil
}

// decode reads the body of a request whose version is not flexible.
func (f frame) decode() (kmsg.Request, error) {
	at, err := f.header()
	if err != nil {
		return nil, err
	}
	req := kmsg.RequestForKey(f.key())
	req.SetVersion(f.version())
	if err := req.ReadFrom(f[at:]); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errMalformed, kmsg.NameForKey(f.key()), err)
	}
	return req, nil
}

// with is the frame with another body.
func (f frame) with(req kmsg.Request) (frame, error) {
	at, err := f.header()
	if err != nil {
		return nil, err
	}
	return req.AppendTo(f[:at:at]), nil
}

// answer is a response to the frame, with its size.
func (f frame) answer(resp kmsg.Response) []byte {
	to := make([]byte, 8, 256)
	copy(to[4:], f[correlationAt:clientIDAt])
	to = resp.AppendTo(to)
	binary.BigEndian.PutUint32(to, uint32(len(to)-4))
	return to
}

// Bounds for a client of the listener.
const (
	// idleTimeout is Kafka's own (connections.max.idle.ms).
	idleTimeout = 10 * time.Minute
	// A frame, or a part of a response, takes at most frameTimeout, and another second for
	// each bytesPerSecond.
	frameTimeout   = 30 * time.Second
	bytesPerSecond = 256 << 10
	// partBytes of a response are written at a time.
	partBytes = 64 << 10
)

// readFrame reads the next request. limit is called with its key and size. It may refuse the
// request, or wait until there is memory for it.
func readFrame(conn net.Conn, limit func(key int16, size int) error) (frame, error) {
	if err := conn.SetReadDeadline(time.Now().Add(idleTimeout)); err != nil {
		return nil, err
	}
	var begin [4 + clientIDEnd]byte
	if _, err := io.ReadFull(conn, begin[:1]); err != nil {
		return nil, err
	}
	if err := conn.SetReadDeadline(time.Now().Add(frameTimeout)); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(conn, begin[1:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(begin[:])
	if size < clientIDEnd || size > maxFrame {
		return nil, fmt.Errorf("%w: a frame of %d bytes", errMalformed, size)
	}
	head := frame(begin[4:])
	if err := limit(head.key(), int(size)); err != nil {
		return nil, err
	}
	if err := conn.SetReadDeadline(time.Now().Add(frameTimeout + time.Duration(size/bytesPerSecond)*time.Second)); err != nil {
		return nil, err
	}
	// The buffer grows with the data, not with the announced size.
	var whole bytes.Buffer
	whole.Write(head)
	if _, err := io.CopyN(&whole, conn, int64(size)-clientIDEnd); err != nil {
		return nil, err
	}
	return whole.Bytes(), nil
}

func writeFrame(conn net.Conn, f frame) error {
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(len(f)))
	buffers := net.Buffers{size[:], f}
	_, err := buffers.WriteTo(conn)
	return err
}

// timedWriter writes to a client in parts, with a time limit for each part.
type timedWriter struct{ conn net.Conn }

// Write implements io.Writer.
func (p timedWriter) Write(b []byte) (written int, err error) {
	for len(b) > 0 {
		part := b[:min(len(b), partBytes)]
		if err := p.conn.SetWriteDeadline(time.Now().Add(frameTimeout)); err != nil {
			return written, err
		}
		n, err := p.conn.Write(part)
		if written += n; err != nil {
			return written, err
		}
		b = b[n:]
	}
	return written, nil
}

package kafka

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
)

// A hint is given if a handshake failed, and not if no broker listens.
func TestWhy(t *testing.T) {
	encrypted := Access{TLS: TLS{On: true}}
	for _, tc := range []struct {
		Access
		err  error
		want string
	}{
		{encrypted, context.DeadlineExceeded, "plaintext listener"},
		{encrypted, io.EOF, "plaintext listener"},
		{encrypted, tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, "plaintext listener"},
		{encrypted, &net.OpError{Op: "dial", Err: context.DeadlineExceeded}, ""},
		{encrypted, &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, ""},
		{encrypted, &net.OpError{Op: "remote error", Err: fmt.Errorf("tls: bad certificate")}, "may want a client certificate"},
	} {
		why := tc.why(fmt.Errorf("unable to dial: %w", &dialError{"a:1", tc.err}))
		if tc.want == "" && why != "" || !strings.Contains(why, tc.want) {
			t.Errorf("%v: %q, want %q", tc.err, why, tc.want)
		}
	}
}

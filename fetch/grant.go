package fetch

import (
	"context"
	"errors"
	"sync/atomic"
)

var errRepeat = failure{ClassNoResponse, errors.New("connection closed before a response; the request is not repeated")}

// grant is the right of one exchange to put its request on the wire, once. It
// goes from fresh to sent, and from either to revoked; never back.
type grant struct {
	permit func() bool // nil: always
	cancel context.CancelCauseFunc
	// The kernel took bytes of the request, or is being given them (HTTP/1.1),
	// or the transport wrote its header frames (HTTP/2).
	sent    atomic.Bool
	revoked atomic.Pointer[failure]
}

// admit is asked before each write.
func (g *grant) admit() error {
	if why := g.revoked.Load(); why != nil {
		return *why
	}
	if g.permit != nil && !g.permit() {
		return g.revoke(errLeaseLost)
	}
	return nil
}

// begin is asked before each attempt to send the request: the transport
// attempts it anew when a kept connection was dead.
func (g *grant) begin() error {
	if g.sent.Load() {
		return g.revoke(errRepeat)
	}
	return g.admit()
}

// revoke also cancels the exchange, or the transport would go on to try every
// idle connection and then a new one.
func (g *grant) revoke(why failure) error {
	g.revoked.CompareAndSwap(nil, &why)
	first := *g.revoked.Load()
	g.cancel(first)
	return first
}

package blob

import (
	"context"
	"errors"
	"net"
	"net/http"
	"syscall"
)

// Temporary tells whether the same operation may succeed later, without another location or other
// credentials: the server is not reached, does not work or is asked too often, another request was in
// the way, or there is no room.
func Temporary(err error) bool {
	var network *net.OpError
	var sending interface{ ConnectionError() bool } // of the SDK: the request did not get through
	var answer interface{ HTTPStatusCode() int }
	switch {
	// First: the SDK wraps a request that did not get through in an answer with the status 0.
	case isConflict(err), errors.As(err, &network), errors.As(err, &sending), errors.Is(err, context.DeadlineExceeded), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return true
	case errors.As(err, &answer):
		status := answer.HTTPStatusCode()
		return status >= http.StatusInternalServerError || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
	}
	return false
}

package freeport

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Two processes that look at the same time take different addresses without listeners.
func TestNoAddressTwice(t *testing.T) {
	const many = 300
	addrs, err := Loopback(many)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("WEFT_TEST_FREEPORT") != "" {
		t.Log("addresses " + strings.Join(addrs, " "))
		return
	}
	child := exec.Command(os.Args[0], "-test.run", "^TestNoAddressTwice$", "-test.v")
	child.Env = append(os.Environ(), "WEFT_TEST_FREEPORT=1")
	said, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	_, list, _ := strings.Cut(string(said), "addresses ")
	list, _, _ = strings.Cut(list, "\n")
	seen := map[string]bool{}
	for _, addr := range append(strings.Fields(list), addrs...) {
		if seen[addr] {
			t.Errorf("%s came twice", addr)
		}
		seen[addr] = true
		if conn, err := net.Dial("tcp", addr); err == nil {
			t.Errorf("somebody listens at %s", addr)
			conn.Close()
		}
	}
	if len(seen) != 2*many {
		t.Errorf("%d addresses, want %d", len(seen), 2*many)
	}
}

func TestTakenAddressIsFree(t *testing.T) {
	addrs, err := Loopback(1)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		listener, err := net.Listen("tcp", addrs[0])
		if err != nil {
			t.Fatal(err)
		}
		listener.Close()
	}
}

package broker

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// raw is a request as bytes: its header, with an empty client id, and a body.
func raw(key kmsg.Key, version int16, body ...byte) []byte {
	f := binary.BigEndian.AppendUint16(nil, uint16(key))
	f = binary.BigEndian.AppendUint16(f, uint16(version))
	f = append(f, 0, 0, 0, 1, 0, 0)
	return append(f, body...)
}

func sized(f []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(f))), f...)
}

// hostile are things that a client from outside may send, by what is wrong with them.
func hostile() map[string][]byte {
	many := slices.Repeat([]byte{0xff}, 4)
	return map[string][]byte{
		"nothing":              nil,
		"half a size":          {0, 0},
		"HTTP":                 []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		"a TLS greeting":       {22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 0, 0, 0, 0, 0},
		"a negative size":      append(slices.Clone(many), raw(kmsg.Metadata, 1)...),
		"a huge frame":         append(binary.BigEndian.AppendUint32(nil, maxFrame+1), raw(kmsg.Produce, 7)...),
		"a large request":      append(binary.BigEndian.AppendUint32(nil, maxClientFrame+1), raw(kmsg.Metadata, 1)...),
		"no header":            sized([]byte{0, 3}),
		"an unknown kind":      sized(raw(kmsg.MaxKey+1, 0)),
		"a negative kind":      sized(raw(-1, 0)),
		"between brokers":      sized(raw(kmsg.LeaderAndISR, 0)),
		"a version to come":    sized(raw(kmsg.Metadata, 99)),
		"a negative version":   sized(raw(kmsg.Metadata, -1)),
		"a flexible version":   sized(raw(kmsg.Metadata, 12, 0, 0, 0, 0)),
		"tagged fields":        sized(raw(kmsg.Produce, 9, 0xff, 0xff, 0xff, 0xff, 0x0f)),
		"a long client id":     sized(append(raw(kmsg.JoinGroup, 1)[:8], 0x7f, 0xff)),
		"no body":              sized(raw(kmsg.JoinGroup, 1)),
		"an endless array":     sized(raw(kmsg.OffsetCommit, 2, append([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, many...)...)),
		"an ApiVersions alone": sized(raw(kmsg.ApiVersions, 99, many...)),
	}
}

// Whatever clients from outside send, and however they leave off, the broker serves others.
func TestHostileStrangers(t *testing.T) {
	b, member := openGuarded(t, guarded())
	before := state(t, member)
	for name, bytes := range hostile() {
		for _, addr := range []string{b.Addr(), b.Member().Addr} {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if _, err := conn.Write(bytes); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			conn.(*net.TCPConn).CloseWrite()
			// It is hung up on, or was answered first.
			if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: the connection stays", name)
			}
			conn.Close()
		}
	}
	if after := state(t, member); !equal(before, after) {
		t.Errorf("before %v, after %v", before, after)
	}
}

func equal(a, b map[string]string) bool {
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return len(a) == len(b)
}

// Clients that take nothing and send nothing delay no other client, also beyond the bound of the
// listener, and no member.
func TestSlowStrangers(t *testing.T) {
	b, member := openGuarded(t, guarded())
	var slow []net.Conn
	for range maxClients + 10 {
		conn, err := net.Dial("tcp", b.Addr())
		if err != nil {
			t.Fatal(err)
		}
		slow = append(slow, conn)
		defer conn.Close()
	}
	for _, conn := range slow[:maxLarge] { // half a large frame each
		if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, maxClientProduce), raw(kmsg.Produce, 7)...)); err != nil {
			t.Fatal(err)
		}
	}
	if err := member.ProduceSync(deadline(t), &kgo.Record{Topic: "weft.deduped", Value: []byte("x")}).FirstErr(); err != nil {
		t.Error(err)
	}
	for _, conn := range slow {
		conn.Close()
	}
	within := deadline(t)
	for after := outsideClient(t, b); ; time.Sleep(10 * time.Millisecond) {
		err := after.Ping(within)
		if err == nil {
			return
		}
		if within.Err() != nil {
			t.Fatalf("after they left: %v", err)
		}
	}
}

// Members prove that they may read the directory; the file that proves it is
// for its owner alone, and new at each start.
func TestMembership(t *testing.T) {
	dir := t.TempDir()
	b, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "secret"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("secret: mode %v, %v", info.Mode(), err)
	}
	first, err := os.ReadFile(filepath.Join(dir, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	if err := os.WriteFile(filepath.Join(elsewhere, "secret"), []byte(strings.Repeat("0", len(first))), 0o600); err != nil {
		t.Fatal(err)
	}
	if conn, err := (Member{Addr: b.Member().Addr, dir: elsewhere}).Dial(deadline(t), "", ""); err == nil {
		conn.Close()
		t.Error("a process with another secret is let in")
	}
	if err := connect(t, b).Ping(deadline(t)); err != nil {
		t.Error(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, Options{Dir: dir})
	if second, err := os.ReadFile(filepath.Join(dir, "secret")); err != nil || string(second) == string(first) {
		t.Errorf("the secret is the same after a restart: %v", err)
	}
}

// What listens at the port of a broker that is gone learns nothing from members.
func TestImposter(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	heard := make(chan []byte, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			heard <- nil
			return
		}
		defer conn.Close()
		if _, err := conn.Write(make([]byte, nonceBytes)); err != nil {
			heard <- nil
			return
		}
		said := make([]byte, 64)
		_, _ = io.ReadFull(conn, said)
		_, _ = conn.Write(make([]byte, 32))
		heard <- said
	}()
	dir := t.TempDir()
	secret, err := makeSecret(dir)
	if err != nil {
		t.Fatal(err)
	}
	if conn, err := (Member{Addr: l.Addr().String(), dir: dir}).Dial(deadline(t), "", ""); err == nil {
		conn.Close()
		t.Error("a member trusts what does not know the secret")
	}
	if said := <-heard; strings.Contains(string(said), string(secret)) {
		t.Error("a member told the secret")
	}
}

// Whatever bytes come to the listener, the process lives, the crawl's own topics and
// groups stay as they are, and members are served.
func FuzzStranger(f *testing.F) {
	for _, bytes := range hostile() {
		f.Add(bytes)
	}
	for key := range int16(kmsg.MaxKey + 1) {
		for version := range int16(4) {
			req := filled(kmsg.RequestForKey(key))
			req.SetVersion(min(version, req.MaxVersion()))
			f.Add(sized(req.AppendTo(raw(kmsg.Key(key), req.GetVersion()))))
		}
	}
	b, member := openGuarded(f, guarded())
	f.Fuzz(func(t *testing.T, bytes []byte) {
		conn, err := net.Dial("tcp", b.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write(bytes); err != nil {
			return
		}
		conn.(*net.TCPConn).CloseWrite()
		if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("the connection stays")
		}
		ends, err := kadm.NewClient(member).ListEndOffsets(deadline(t), "weft.deduped")
		if err != nil {
			t.Fatal(err)
		}
		ends.Each(func(o kadm.ListedOffset) {
			if o.Offset != 0 {
				t.Fatalf("a client from outside wrote to weft.deduped")
			}
		})
		if groups, err := kadm.NewClient(member).ListGroups(deadline(t)); err != nil || slices.Contains(groups.Groups(), "weft.normalize") {
			t.Fatalf("groups %v: %v", groups.Groups(), err)
		}
	})
}

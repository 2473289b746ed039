package frontier

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// The keys of a partition. Numbers are big-endian, so that keys sort by them;
// a domain's keys are together, so that one block of the store holds what a
// decision about a small domain needs. A domain has no zero byte.
//
//	g                              gauges of the partition
//	c REASON                       URLs settled with the reason
//	0|1|b|3 MS8 DOMAIN             back queues, by priority: when domains are due
//	l MS8 DOMAIN                   when the first lease of domains ends
//	v OFFSET8 INDEX DOMAIN         visits out, by the offset of their release
//	f MS8 DOMAIN 0 FINGERPRINT16   URLs that are settled and come back, by the time
//	d DOMAIN 0                     the domain's record
//	d DOMAIN 0 n HOST              what is remembered of a host
//	d DOMAIN 0 o ORIGIN            what is known of an origin
//	d DOMAIN 0 p ORIGIN            its robots rules
//	d DOMAIN 0 r PRIORITY ID4      the name of an origin with URLs that may go out
//	d DOMAIN 0 s MS8 ID4           the name of an origin that waits for a time
//	d DOMAIN 0 u ID4 PRIORITY SEQ8 queues of the origin with that id
//	d DOMAIN 0 y ID4 MS8 SEQ8      its retries, by the time they wait for
//	d DOMAIN 0 v OFFSET8 INDEX     the requests of a visit that is out
//	d DOMAIN 0 g GROUP             the record of a group
//	d DOMAIN 0 h CLASS GROUP       nothing; groups that hold URLs, by how they are served
//	d DOMAIN 0 w GROUP 0 SEQ8      URLs in a group
//	d DOMAIN 0 x FINGERPRINT16     the place of a URL in a group: SEQ, GROUP
//	d DOMAIN 0 z MS8 FINGERPRINT16 a URL that is settled and comes back
const (
	gaugesKey    = 'g'
	countKey     = 'c'
	leaseKey     = 'l'
	releaseKey   = 'v'
	refreshKey   = 'f'
	domainKey    = 'd'
	hostKind     = 'n'
	originKind   = 'o'
	policyKind   = 'p'
	readyKind    = 'r'
	waitingKind  = 's'
	queueKind    = 'u'
	retryKind    = 'y'
	requestsKind = 'v'
	groupKind    = 'g'
	servedKind   = 'h'
	groupedKind  = 'w'
	placeKind    = 'x'
	refreshKind  = 'z'
)

// dueKeys are the prefixes of the back queues. Former versions had a single back queue, with
// the prefix of priority 2.
var dueKeys = [priorities]byte{'0', '1', 'b', '3'}

func backQueues() (queues [priorities]index) {
	for p, prefix := range dueKeys {
		queues[p].prefix = prefix
	}
	return queues
}

type keys struct{ prefix []byte }

func keysOf(domain string) keys {
	return keys{append(append(append(make([]byte, 0, len(domain)+2), domainKey), domain...), 0)}
}

// make returns a key that shares no memory with other keys.
func (k keys) make(kind byte, extra int) []byte {
	return append(append(make([]byte, 0, len(k.prefix)+1+extra), k.prefix...), kind)
}

func (k keys) record() []byte { return k.prefix }

func (k keys) origin(name string) []byte { return append(k.make(originKind, len(name)), name...) }

func (k keys) policy(origin string) []byte { return append(k.make(policyKind, len(origin)), origin...) }

func (k keys) host(name string) []byte { return append(k.make(hostKind, len(name)), name...) }

func (k keys) queue(id uint32, priority int, seq uint64) []byte {
	key := binary.BigEndian.AppendUint32(k.make(queueKind, 13), id)
	return binary.BigEndian.AppendUint64(append(key, byte(priority)), seq)
}

// retry is the key of a retry; retries are ordered by time, then by arrival.
func (k keys) retry(id uint32, ms int64, seq uint64) []byte {
	key := binary.BigEndian.AppendUint32(k.make(retryKind, 20), id)
	key = binary.BigEndian.AppendUint64(key, uint64(ms))
	return binary.BigEndian.AppendUint64(key, seq)
}

// retryMS is the time in a key that retry made.
func (k keys) retryMS(key []byte) int64 {
	return int64(binary.BigEndian.Uint64(key[len(k.prefix)+5:]))
}

func (k keys) ready(priority int, id uint32) []byte {
	return binary.BigEndian.AppendUint32(append(k.make(readyKind, 5), byte(priority)), id)
}

func (k keys) waiting(ms int64, id uint32) []byte {
	key := binary.BigEndian.AppendUint64(k.make(waitingKind, 12), uint64(ms))
	return binary.BigEndian.AppendUint32(key, id)
}

// waitingMS is the time in a key that waiting made.
func (k keys) waitingMS(key []byte) int64 {
	return int64(binary.BigEndian.Uint64(key[len(k.prefix)+1:]))
}

func (k keys) requests(v visit) []byte {
	key := binary.BigEndian.AppendUint64(k.make(requestsKind, 9), uint64(v.offset))
	return append(key, byte(v.index))
}

// VisitID is the id of the visit that is released first, second, ... (index 0, 1, ...) by
// the event at offset of a partition. It is unique in the crawl, because an offset of the
// ledger is, and the same whenever the event is decided again.
func VisitID(partition int32, offset int64, index uint32) string {
	b := make([]byte, 0, 32)
	b = strconv.AppendInt(b, int64(partition), 10)
	b = strconv.AppendInt(append(b, '-'), offset, 10)
	b = strconv.AppendUint(append(b, '-'), uint64(index), 10)
	return string(b)
}

// splitID is the opposite of VisitID.
func splitID(partition int32, id string) (offset int64, index uint32, err error) {
	p, rest, _ := strings.Cut(id, "-")
	o, i, _ := strings.Cut(rest, "-")
	offset, err1 := strconv.ParseInt(o, 10, 64)
	n, err2 := strconv.ParseUint(i, 10, 8)
	if p != strconv.Itoa(int(partition)) || err1 != nil || err2 != nil || VisitID(partition, offset, uint32(n)) != id {
		return 0, 0, fmt.Errorf("%q is not a visit of partition %d", id, partition)
	}
	return offset, uint32(n), nil
}

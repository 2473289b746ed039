package topics

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// ProducerOptions tune a producer of the loop's records. The zero value is
// not valid; begin with DefaultProducerOptions.
type ProducerOptions struct {
	// Compression of record batches: "none", "snappy", "lz4", "zstd", "gzip".
	// On the embedded broker "none" is the fastest; over a network lz4 is.
	Compression string
	// Linger is how long a batch waits for more records.
	Linger time.Duration
	// MaxBufferedBytes bounds the records that are not acknowledged yet. Beyond it
	// Produce blocks. What is under way takes it a second time, as requests.
	MaxBufferedBytes int
	// Manual leaves Record.Partition to the caller. Ledgers need it: the owner of a
	// partition writes to that one, with any key.
	Manual bool
	// DeliveryTimeout fails a record that could not be delivered for this
	// long; 0 tries for ever.
	DeliveryTimeout time.Duration
}

// DefaultProducerOptions are right for every stage on the embedded broker.
func DefaultProducerOptions() ProducerOptions {
	return ProducerOptions{Compression: "none", Linger: 5 * time.Millisecond, MaxBufferedBytes: 20 * mib}
}

// maxRequestBytes bounds a produce request. It holds the largest batch of the loop, with
// what is around it. By default franz-go puts up to 100 MiB into a request, as one buffer.
const maxRequestBytes = 17 * mib

// Validate says what is wrong with the options, if anything.
func (o ProducerOptions) Validate() error {
	if _, err := codec(o.Compression); err != nil {
		return err
	}
	switch {
	case o.Linger < 0:
		return fmt.Errorf("producer linger %s is negative", o.Linger)
	case o.MaxBufferedBytes < 16*mib:
		return fmt.Errorf("producer buffer of %d bytes does not hold the largest record, %d", o.MaxBufferedBytes, 16*mib)
	case o.DeliveryTimeout < 0:
		return fmt.Errorf("producer delivery timeout %s is negative", o.DeliveryTimeout)
	}
	return nil
}

func codec(name string) (kgo.CompressionCodec, error) {
	known, ok := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(),
		"zstd": kgo.ZstdCompression(), "gzip": kgo.GzipCompression(),
	}[name]
	if !ok {
		return known, fmt.Errorf("compression %q is not one of none, snappy, lz4, zstd, gzip", name)
	}
	return known, nil
}

// Client returns the client options of a producer of the loop. Its records are
// written once and in order, acknowledged by all replicas in sync, and placed by
// Partitioner. Batches are not larger than their topic accepts. o is valid.
func (o ProducerOptions) Client(n Names) []kgo.Opt {
	compression, err := codec(o.Compression)
	if err != nil {
		panic("topics: " + err.Error())
	}
	limits := map[string]int32{}
	for _, t := range n.Topics() {
		limits[t.Name] = t.MaxMessageBytes
	}
	opts := []kgo.Opt{
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordPartitioner(Partitioner()),
		kgo.ProducerBatchCompression(compression),
		kgo.ProducerLinger(o.Linger),
		kgo.MaxBufferedBytes(o.MaxBufferedBytes),
		kgo.BrokerMaxWriteBytes(maxRequestBytes),
		kgo.ProducerBatchMaxBytesFn(func(topic string) int32 {
			if limit, ok := limits[topic]; ok {
				return limit
			}
			return mib
		}),
	}
	if o.Manual {
		opts = append(opts, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	}
	if o.DeliveryTimeout > 0 {
		opts = append(opts, kgo.RecordDeliveryTimeout(o.DeliveryTimeout))
	}
	return opts
}

// NewProducer connects a producer. client says where the brokers are and how to reach them; its
// options override the options of o.
func NewProducer(n Names, o ProducerOptions, client ...kgo.Opt) (*kgo.Client, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	producer, err := kgo.NewClient(append(o.Client(n), client...)...)
	if err != nil {
		return nil, fmt.Errorf("make producer of %s: %w", n.Crawl, err)
	}
	return producer, nil
}

// Partitioner places records as goka does: FNV-1a of the key, then sarama's
// signed modulo. Records without a key go to any partition.
//
// Of the hashers that franz-go has for sarama only SaramaCompatHasher agrees:
// SaramaHasher and the default partitioner do not, and would give a domain two
// owners. A test compares this with goka itself.
func Partitioner() kgo.Partitioner {
	return kgo.StickyKeyPartitioner(kgo.SaramaCompatHasher(fnv32a[[]byte]))
}

// Partition returns the partition, of n, in which records with this key lie.
func Partition(key string, n int32) int32 {
	p := int32(fnv32a(key)) % n
	if p < 0 {
		return -p
	}
	return p
}

// fnv32a is FNV-1a with 32 bits. Package hash/fnv would allocate.
func fnv32a[K string | []byte](key K) uint32 {
	const offset, prime = 2166136261, 16777619
	h := uint32(offset)
	for i := range len(key) {
		h = (h ^ uint32(key[i])) * prime
	}
	return h
}

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
	// On the embedded broker none is faster; over a network lz4 pays.
	Compression string
	// Linger is how long a batch waits for more records.
	Linger time.Duration
	// MaxBufferedBytes bounds what is not acknowledged yet; Produce blocks
	// beyond it.
	MaxBufferedBytes int
	// Manual leaves Record.Partition to the caller, for ledgers, whose owner
	// writes to its own partition whatever the key is.
	Manual bool
	// DeliveryTimeout fails a record that could not be delivered for this
	// long; 0 tries for ever.
	DeliveryTimeout time.Duration
}

// DefaultProducerOptions suit every stage on the embedded broker.
func DefaultProducerOptions() ProducerOptions {
	return ProducerOptions{Compression: "none", Linger: 5 * time.Millisecond, MaxBufferedBytes: 64 * mib}
}

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
	switch name {
	case "none":
		return kgo.NoCompression(), nil
	case "snappy":
		return kgo.SnappyCompression(), nil
	case "lz4":
		return kgo.Lz4Compression(), nil
	case "zstd":
		return kgo.ZstdCompression(), nil
	case "gzip":
		return kgo.GzipCompression(), nil
	}
	return kgo.CompressionCodec{}, fmt.Errorf("compression %q is not one of none, snappy, lz4, zstd, gzip", name)
}

// Client returns the client options of every producer in the loop: idempotent,
// acknowledged by all replicas, in order, placed by Partitioner, and with
// batches no larger than their topic takes. o is valid.
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

// NewProducer connects a producer. client says where the brokers are and how
// to reach them; its options win over those of o.
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

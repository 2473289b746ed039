package topics_test

import (
	"hash/fnv"
	"testing"

	"github.com/IBM/sarama"
	"github.com/lovoo/goka"
	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/topics"
)

func fnv32a(key []byte) uint32 {
	h := fnv.New32a()
	h.Write(key)
	return h.Sum32()
}

// TestPartitionAgreesWithGoka holds the three ways a record finds its partition
// against each other: goka's builders (sarama's custom hash partitioner on
// goka's hasher), franz-go's partitioner, and Partition.
func TestPartitionAgreesWithGoka(t *testing.T) {
	ours := topics.Partitioner().ForTopic("weft.discovered")
	negative, total := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.OneOf(
			rapid.StringMatching(`[a-z0-9-]{1,20}\.(com|co\.uk|github\.io)`),
			rapid.StringMatching(`[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}`),
			rapid.String(),
		), 100, 200).Draw(t, "keys")
		n := rapid.Int32Range(1, 300).Draw(t, "partitions")
		theirs := sarama.NewCustomHashPartitioner(goka.DefaultHasher())("weft.discovered")
		for _, key := range keys {
			want, err := theirs.Partition(&sarama.ProducerMessage{Key: sarama.StringEncoder(key)}, n)
			if err != nil {
				t.Fatal(err)
			}
			if got := ours.Partition(&kgo.Record{Key: []byte(key)}, int(n)); got != int(want) {
				t.Fatalf("franz-go places %q in %d of %d, goka in %d", key, got, n, want)
			}
			if got := topics.Partition(key, n); got != want {
				t.Fatalf("Partition(%q, %d) = %d, goka says %d", key, n, got, want)
			}
			total++
			if int32(fnv32a([]byte(key))) < 0 {
				negative++
			}
		}
	})
	// Hashes of 2^31 and above are where the modulos of Kafka clients part ways.
	if total < 1000 || negative < total/4 {
		t.Errorf("%d keys, %d of them with a negative hash: too few to tell", total, negative)
	}
}

// TestOtherPartitionersDisagree shows that the choice of the hasher matters.
func TestOtherPartitionersDisagree(t *testing.T) {
	const n = 12
	for name, p := range map[string]kgo.Partitioner{
		"default":      kgo.StickyKeyPartitioner(nil),
		"SaramaHasher": kgo.StickyKeyPartitioner(kgo.SaramaHasher(fnv32a)),
	} {
		topic := p.ForTopic("t")
		same := true
		for i := range 1000 {
			key := string(rune('a'+i%26)) + "." + string(rune('a'+i/26))
			same = same && topic.Partition(&kgo.Record{Key: []byte(key)}, n) == int(topics.Partition(key, n))
		}
		if same {
			t.Errorf("%s places 1,000 keys as goka does", name)
		}
	}
}

func BenchmarkPartition(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		topics.Partition("some-documentation.example.com", 16)
	}
}

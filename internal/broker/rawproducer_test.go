package broker

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// rawProducer is an idempotent producer that can do what a client's never does:
// send a batch twice, skip one, or use an old epoch.
type rawProducer struct {
	c  corner
	id int64
}

// producer asks the broker for a producer's id.
func (c corner) producer() rawProducer {
	c.Helper()
	request := kmsg.NewPtrInitProducerIDRequest()
	request.TransactionTimeoutMillis = 60_000
	request.ProducerID, request.ProducerEpoch = -1, -1
	response, err := request.RequestWith(c.ctx, c.client)
	if err == nil {
		err = kerr.ErrorForCode(response.ErrorCode)
	}
	if err != nil {
		c.Fatal(err)
	}
	if response.ProducerEpoch != 0 {
		c.Errorf("a new producer begins with epoch %d", response.ProducerEpoch)
	}
	return rawProducer{c, response.ProducerID}
}

// append sends a batch of one record to partition 0 and returns its offset.
func (p rawProducer) append(topic string, epoch int16, sequence int32, value string) (int64, error) {
	p.c.Helper()
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = p.batch(epoch, sequence, value)
	found := p.c.found(topic)
	to := kmsg.NewProduceRequestTopic()
	to.Topic, to.TopicID, to.Partitions = topic, found.TopicID, append(to.Partitions, partition)
	request := kmsg.NewPtrProduceRequest()
	request.Acks, request.TimeoutMillis, request.Topics = -1, 10_000, append(request.Topics, to)
	leader := p.c.client.Broker(int(found.Partitions[0].Leader))
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		response, err := leader.Request(p.c.ctx, request)
		if err != nil {
			p.c.Fatal(err)
		}
		answer := response.(*kmsg.ProduceResponse).Topics[0].Partitions[0]
		err = kerr.ErrorForCode(answer.ErrorCode)
		if !kerr.IsRetriable(err) {
			return answer.BaseOffset, err
		}
		<-ticker.C // the leader does not know yet that it is
	}
}

// batch is a record batch of one record.
func (p rawProducer) batch(epoch int16, sequence int32, value string) []byte {
	record := kmsg.NewRecord()
	record.Value = []byte(value)
	body := record.AppendTo(nil)[1:] // without the length, which was 0 in one byte
	record.Length = int32(len(body)) // of what follows it
	raw := record.AppendTo(nil)
	now := time.Now().UnixMilli()
	batch := kmsg.NewRecordBatch()
	batch.PartitionLeaderEpoch, batch.Magic = -1, 2
	batch.FirstTimestamp, batch.MaxTimestamp = now, now
	batch.ProducerID, batch.ProducerEpoch, batch.FirstSequence = p.id, epoch, sequence
	batch.NumRecords, batch.Records = 1, raw
	encoded := batch.AppendTo(nil)
	binary.BigEndian.PutUint32(encoded[batchLengthAt:], uint32(len(encoded)-12))
	sum := crc32.Checksum(encoded[batchAttributesAt:], crc32.MakeTable(crc32.Castagnoli))
	binary.BigEndian.PutUint32(encoded[batchCRCAt:], sum)
	return encoded
}

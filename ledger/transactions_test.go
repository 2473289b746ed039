package ledger

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// transaction writes a record of text to a topic in a transaction.
func (w *world) transaction(topic string, end kgo.TransactionEndTry) {
	w.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(w.brokers...), kgo.TransactionalID("stranger"))
	check(w.t, err)
	defer client.Close()
	check(w.t, client.BeginTransaction())
	check(w.t, client.ProduceSync(w.t.Context(), &kgo.Record{Topic: topic, Key: []byte("k"), Value: []byte("skip")}).FirstErr())
	check(w.t, client.EndTransaction(w.t.Context(), end))
}

// Rule 8 of transactions: what ends one takes an offset, and goka is not given it.
func TestTransactionsArePassedOver(t *testing.T) {
	t.Parallel()
	w := worked(t, "0")
	stop := w.start(w.options())
	w.reaches(IncidentClaim, 2)
	w.transaction(ledgerTopic, kgo.TryCommit)
	w.transaction(ledgerTopic, kgo.TryAbort)
	w.produce(numbers(1, 5)...)
	w.reaches(IncidentClaim, 3) // after the gap
	w.exactly(numbers(0, 5))
	live := w.newest().dump()
	w.transaction(ledgerTopic, kgo.TryCommit)
	w.transaction(ledgerTopic, kgo.TryAbort) // the log ends with what ends it
	mustStop(t, stop)
	w.sameAsRebuilt(live)
}

// Timers wait until inputs are read to the last record that the stage is given.
func TestTimersDoNotWaitForWhatEndsATransaction(t *testing.T) {
	t.Parallel()
	w := worked(t, "0")
	w.transaction(inTopic, kgo.TryCommit)
	w.transaction(inTopic, kgo.TryAbort)
	stop := w.start(w.options())
	w.reaches(IncidentClaim, 2)
	w.events(func(all []*weftpb.Event) bool { // a timer's: positions that no event carried
		claims := 0
		for _, ev := range all {
			if ev.Claim != nil {
				claims++
			}
			if claims == 2 && ev.Epoch > 0 {
				return true
			}
		}
		return false
	})
	mustStop(t, stop)
}

package plan

// recovery is the session time-out, after which the partitions of a lost machine
// are given away, and then either the download of their checkpoints and a replay
// of what came since the last one began, or a replay of all.
func (w work) recovery(p Plan) Recovery {
	var stores, ledgers, replay, replayRate float64
	for _, s := range p.Stores {
		stores += s.Disk / storeSlack
		replay += w.m.Replay[s.Stage].Of(w.total)
		replayRate += w.m.Replay[s.Stage].Of(w.rate)
	}
	for _, log := range p.Topics {
		if log.Kept == "whole" {
			ledgers += log.Disk / float64(w.c.Replication)
		}
	}
	machines := float64(p.Workers.Count)
	// A partition is folded by one core.
	cores := max(1, min(float64(w.c.Cores), float64(p.Partitions)/machines))
	wire := float64(w.c.Network) / 8 * w.c.Load
	took := func(bytes, cpu float64) float64 {
		return sessionTimeout + bytes/machines/wire + cpu/1e6/machines/cores
	}
	// Two checkpoints' time: one is made while the one before is sent.
	since := min(2*checkpoints, w.c.seconds())
	without := took(ledgers, replay)
	return Recovery{WithCheckpoints: min(took(stores, replayRate*since), without), WithoutCheckpoints: without}
}

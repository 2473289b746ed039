package plan

// recovery is the session time-out, after which the partitions of a lost machine
// are given away, and then either the download of their checkpoints and a replay
// of what came since the last one began, or a replay of all. Pages wait until parse
// has read parsed, which it does as fast as the network brings it.
func (w work) recovery(p Plan) Recovery {
	var logs, pages, replay, replayRate float64
	for _, name := range ledgers {
		replay += w.m.Replay[name].Of(w.total)
		replayRate += w.m.Replay[name].Of(w.rate)
	}
	for _, log := range p.Topics {
		switch bytes := log.Disk / float64(w.c.Replication); {
		case log.Kept == "whole":
			logs += bytes
		case log.Topic == "parsed":
			pages = bytes
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
	without := took(logs, replay)
	return Recovery{
		WithCheckpoints:    min(took(checkpoint(p), replayRate*since), without),
		WithoutCheckpoints: without,
		Pages:              took(pages, 0),
	}
}

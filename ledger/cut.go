package ledger

// findCuts looks for inputs that were cut by an unclean end of the broker, and
// tells the partition; or it returns the next thing to be asked about them. A
// log that ends below the position shows it. One that has grown again does not,
// and what was written at the old offsets would be passed over; the timestamp of
// the record at the position gives it away.
//
// Where the log is intact the commit tells: it follows the folded events, and an
// embedded broker takes commits back to where it found the ends of its logs. It
// also tells an input that was trimmed too far from a ledger that lost its end.
func (c *Claiming) findCuts() (question ClaimStep, open bool) {
	var losses []Loss
	for _, topic := range c.p.def.Inputs() {
		at, known := c.p.positions[topic]
		log := c.bounds[topic]
		if !known || at.Offset+1 == log.Start {
			continue // nothing to compare
		}
		if at.Offset >= log.Start && at.Offset < log.End {
			if at.TimestampMS == 0 {
				continue
			}
			stamp, asked := c.stamps[topic]
			if !asked {
				return ClaimStep{Kind: AskStamp, Topic: topic, Offset: at.Offset}, true
			}
			if stamp == at.TimestampMS {
				continue
			}
		}
		commit, asked := c.commits[topic]
		if !asked {
			return ClaimStep{Kind: AskCommit, Topic: topic}, true
		}
		found := Loss{Topic: topic, Position: at.Offset, Log: log, Intact: -1}
		if at.Offset < log.Start {
			log.Committed = commit
			c.bounds[topic] = log
			if commit >= log.Start {
				losses = append(losses, found)
			}
			continue
		}
		found.Intact = log.Start
		if commit <= log.End {
			found.Intact = max(found.Intact, commit)
		}
		c.p.Cut(topic, found.Intact)
		losses = append(losses, found)
	}
	c.losses = losses
	return ClaimStep{}, false
}

package sim

import (
	"testing"
)

// planted says of each bug within how many seeds it is found.
var planted = []struct {
	bug   Bug
	seeds uint64
}{
	{BugWriterGoesOn, 300},
	{BugResumeFromCommits, 300},
	{BugCommitEarly, 300},
	{BugNoClaim, 300},
	{BugAnyEpoch, 300},
	{BugAnyOffset, 300},
	{BugImpureApply, 300},
	{BugCheckpointEarly, 300},
	{BugWorkerCommitsEarly, 300},
	{BugMarksJump, 300},
	{BugReportEarly, 300},
	{BugIgnoreOldest, 300},
	{BugNoPause, 300},
	{BugLeaseUnchecked, 300},
	{BugLeaseFromAnswer, 300},
	{BugDelayFromStart, 300},
	{BugNoRobots, 300},
	{BugDrainWithoutBefore, 1500},
	{BugDrainEndsFirst, 300},
	{BugSettleUnknown, 300},
	{BugTrustFilter, 300},
	{BugTrimTooFar, 300},
}

// Each planted bug is found, and TestSeeds shows that without it nothing is.
func TestPlantedBugsAreFound(t *testing.T) {
	for _, p := range planted {
		t.Run(string(p.bug), func(t *testing.T) {
			for seed := uint64(1); seed <= p.seeds; seed++ {
				c := NewCase(seed)
				c.Bug = p.bug
				if v := Run(c, nil).Violation; v != nil {
					t.Logf("seed %d: %v", seed, v)
					return
				}
			}
			t.Errorf("not found within %d seeds", p.seeds)
		})
	}
}

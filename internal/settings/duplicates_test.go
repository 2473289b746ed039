package settings

import (
	"testing"

	"github.com/weftcrawl/weft/topics"
)

func TestDuplicatePolicies(t *testing.T) {
	for _, c := range []struct {
		policy, links string
		known         bool
	}{
		{"", "", true},
		{topics.KeepDuplicates, topics.FollowDuplicateLinks, true},
		{topics.DropDuplicateText, topics.IgnoreDuplicateLinks, true},
		{topics.IgnoreDuplicates, "", true},
		{"burn", "", false},
		{"", "burn", false},
	} {
		if err := checkDuplicates(topics.Definition{Duplicates: c.policy, DuplicateLinks: c.links}); (err == nil) != c.known {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

package settings

import (
	"testing"

	"github.com/weftcrawl/weft/topics"
)

func TestTrapOptions(t *testing.T) {
	byDefault := TrapOptions(topics.Definition{})
	if err := byDefault.Validate(); err != nil || byDefault.Evidence == 0 || byDefault.URLsPerTemplate == 0 {
		t.Errorf("by default: %+v, %v", byDefault, err)
	}
	none := TrapOptions(topics.Definition{TrapEvidence: -1, MaxURLsPerTemplate: -1})
	if none.Evidence != 0 || none.URLsPerTemplate != 0 {
		t.Errorf("without limits: %+v", none)
	}
	if err := CheckDefinition(topics.Definition{Scope: "host", PerDomain: 1, TrapEvidence: 99}); err == nil {
		t.Error("evidence that is never reached is taken")
	}
}

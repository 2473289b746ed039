package topics

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Alter sets what differs as designed, and leaves other settings alone. It
// returns what it cannot alter.
func Alter(ctx context.Context, admin *kadm.Client, differs []Difference) (left []Difference, err error) {
	var (
		names   []string // of topics, in their order
		changes = map[string][]kadm.AlterConfig{}
	)
	for _, d := range differs {
		if !d.Alterable() {
			left = append(left, d)
			continue
		}
		if changes[d.Topic] == nil {
			names = append(names, d.Topic)
		}
		changes[d.Topic] = append(changes[d.Topic], kadm.AlterConfig{Op: kadm.SetConfig, Name: d.Config, Value: kadm.StringPtr(d.Want)})
	}
	for _, name := range names {
		answers, err := admin.AlterTopicConfigs(ctx, changes[name], name)
		if err == nil {
			var answer kadm.AlterConfigsResponse
			if answer, err = answers.On(name, nil); err == nil {
				err = answer.Err
			}
		}
		if err != nil {
			return left, fmt.Errorf("alter configuration of topic %s: %w", name, err)
		}
	}
	return left, nil
}

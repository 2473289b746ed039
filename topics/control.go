package topics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Control is what people ask of a running crawl: a record of config beside the
// definition, with the key "control". The last one is in force.
//
// Its value is the definition in force with one field more. A program that does not
// know controls reads the definition from it that it knows already. Programs that
// know controls do not read the definition from it: two commands at the same time
// can overwrite each other's control, but never the definition.
type Control struct {
	// Paused stages take no new input and begin no request, in all processes
	// and across restarts, until they are resumed. In the order of the loop.
	Paused []Stage `json:"paused,omitempty"`
	// Draining: no visit is released, and what is in flight is finished.
	Draining bool `json:"draining,omitempty"`
	// Stop ends these stages in the processes that run when the record is written.
	// It is an order and not a state: a process that begins later ignores it, and
	// for that process the crawl is not draining any more.
	Stop []Stage `json:"stop,omitempty"`
}

// Pauses tells whether a stage is paused.
func (c Control) Pauses(s Stage) bool { return slices.Contains(c.Paused, s) }

// Stops tells whether a stage is to end. archive ends with the whole loop, too: programs that
// do not know it stop a crawl.
func (c Control) Stops(s Stage) bool {
	whole := s == Archive && !slices.ContainsFunc(Stages(), func(s Stage) bool { return !slices.Contains(c.Stop, s) })
	return whole || slices.Contains(c.Stop, s)
}

// PausesReleases tells whether no visit may be released: while the crawl is draining, and
// while fetch or parse is paused. fetch soon waits for a parse that is paused, and
// visits would run out of their leases and be released again, for hours.
func (c Control) PausesReleases() bool { return c.Draining || c.Pauses(Fetch) || c.Pauses(Parse) }

// String says in words what the crawl does not do now; it is empty when the crawl
// does everything.
func (c Control) String() string {
	var words []string
	if len(c.Paused) > 0 {
		names := make([]string, len(c.Paused))
		for i, s := range c.Paused {
			names[i] = string(s)
		}
		words = append(words, "paused: "+strings.Join(names, " "))
	}
	if c.Draining {
		words = append(words, "draining")
	}
	return strings.Join(words, ", ")
}

// WithPaused returns c with some more stages paused, or with them not paused.
func (c Control) WithPaused(paused bool, stages ...Stage) Control {
	var all []Stage
	for _, s := range Groups() {
		if slices.Contains(stages, s) && paused || !slices.Contains(stages, s) && c.Pauses(s) {
			all = append(all, s)
		}
	}
	c.Paused = all
	return c
}

// standing is what a control means for a process that begins after it.
func (c Control) standing() Control {
	if len(c.Stop) > 0 {
		c.Stop, c.Draining = nil, false
	}
	return c
}

// controlKey is the key of controls in config; definitions have no key.
const controlKey = "control"

func decodeControl(value []byte) (Control, error) {
	var r struct{ Control *Control }
	if err := json.Unmarshal(value, &r); err != nil {
		return Control{}, fmt.Errorf("decode control of a crawl: %w", err)
	}
	if r.Control == nil {
		return Control{}, errors.New("decode control of a crawl: the record holds no control")
	}
	return *r.Control, nil
}

// Orders are what people ask of a crawl, for a process that begins now.
type Orders struct {
	Control Control
	// Settings by domain.
	Settings map[string]Setting
	// Next is the offset in config at which FollowOrders goes on.
	Next int64
}

// ReadOrders returns the orders in force. The error is ErrUndefined when the crawl has no
// definition.
func ReadOrders(ctx context.Context, n Names, client ...kgo.Opt) (Orders, error) {
	h, err := readHistory(ctx, n, client)
	return Orders{h.control, h.settings, h.next}, err
}

// WriteControl appends a new control, and returns it. change makes the new control of the
// control in force.
func WriteControl(ctx context.Context, n Names, change func(Control) Control, client ...kgo.Opt) (Control, error) {
	h, err := readHistory(ctx, n, client)
	if err != nil {
		return Control{}, err
	}
	c := change(h.control)
	return c, appendConfig(ctx, []byte(controlKey), h.last, record{Control: &c}, client)
}

// OrderFollower has the functions that FollowOrders calls for each order.
type OrderFollower struct {
	Control func(Control)
	Setting func(Setting)
}

// FollowOrders calls f for every order from the offset next on, until ctx ends. Then it
// returns nil.
func FollowOrders(ctx context.Context, n Names, next int64, f OrderFollower, client ...kgo.Opt) error {
	reader, err := kgo.NewClient(append([]kgo.Opt{
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{n.Config: {0: kgo.NewOffset().At(next)}}),
	}, client...)...)
	if err != nil {
		return fmt.Errorf("follow %s: %w", n.Config, err)
	}
	defer reader.Close()
	for {
		fetches := reader.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("follow %s: %w", n.Config, err)
		}
		for it := fetches.RecordIter(); !it.Done(); {
			f.read(it.Next(), n.Crawl)
		}
	}
}

// read passes a record on. A record that cannot be read was written by another program and
// is ignored.
func (f OrderFollower) read(r *kgo.Record, crawl string) {
	if d, err := decodeDefinition(r.Value); err != nil || d.Crawl != crawl {
		return
	}
	switch key := string(r.Key); {
	case key == controlKey:
		if c, err := decodeControl(r.Value); err == nil {
			f.Control(c)
		}
	case strings.HasPrefix(key, settingKey):
		if s, err := decodeSetting(key, r.Value); err == nil {
			f.Setting(s)
		}
	}
}

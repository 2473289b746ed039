package erase

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/urls"
)

// Selection says which pages go. It is safe for concurrent use.
type Selection struct {
	kind, text string
	selects    func(target string, at time.Time) bool
	// indexed: files of exchanges are only read if their index has a selected response.
	indexed bool
	// keep are the ages of a selection by age, and records from young on are not selected; zero: any
	// record may be.
	keep  *Keep
	young time.Time
}

// byAge is the kind of selections by age.
const byAge = "age"

// URL selects the records of a URL.
func URL(target string) Selection {
	return Selection{kind: "url", text: target, selects: func(one string, _ time.Time) bool { return one == target }}
}

// Domain selects the records of a registrable domain.
func Domain(domain string) Selection {
	return Selection{kind: "domain", text: domain, selects: func(one string, _ time.Time) bool { return urls.DomainOf(one) == domain }}
}

// Keep says how long pages are kept.
type Keep struct {
	// Default is for all domains without an age of their own; 0: for ever.
	Default time.Duration `json:"default"`
	// Domains are ages of registrable domains; 0: for ever.
	Domains map[string]time.Duration `json:"domains,omitempty"`
}

// shortest is the shortest of all ages; 0: everything is kept for ever.
func (k Keep) shortest() (shortest time.Duration) {
	for _, age := range append(slices.Collect(maps.Values(k.Domains)), k.Default) {
		if age > 0 && (shortest == 0 || age < shortest) {
			shortest = age
		}
	}
	return shortest
}

// Older selects the records that are older than their domain permits. Times count in whole seconds,
// as in indexes.
func Older(k Keep, now time.Time) Selection {
	text := "all=" + k.Default.String()
	for _, domain := range slices.Sorted(maps.Keys(k.Domains)) {
		text += " " + domain + "=" + k.Domains[domain].String()
	}
	var young time.Time
	if shortest := k.shortest(); shortest > 0 {
		young = now.Add(-shortest).Truncate(time.Second)
	}
	return Selection{kind: byAge, text: text, indexed: true, keep: &k, young: young, selects: func(one string, at time.Time) bool {
		age := k.Default
		if len(k.Domains) > 0 {
			if another, ok := k.Domains[urls.DomainOf(one)]; ok {
				age = another
			}
		}
		return age > 0 && !at.IsZero() && at.Truncate(time.Second).Before(now.Add(-age).Truncate(time.Second))
	}}
}

// sum identifies the selection, and does not tell what is selected.
func (s Selection) sum() string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s.text))) }

package urls

import (
	"cmp"
	"strings"
)

// Refusal is the reason why a URL is not taken; the zero value means that it
// was accepted. The values are stable: they label metrics and records.
type Refusal string

const (
	// Accepted is the absence of a refusal.
	Accepted Refusal = ""
	// Empty is a URL of nothing but white space.
	Empty Refusal = "empty"
	// NotAbsolute is a URL without a scheme where there is no base to resolve
	// it against.
	NotAbsolute Refusal = "not_absolute"
	// NotCrawlable is a URL whose scheme is neither http nor https. Well-known
	// schemes have a value of their own, such as "not_crawlable_mailto"; see
	// Refusal.NotCrawlable.
	NotCrawlable Refusal = "not_crawlable"
	// NoHost is an http URL that names no host.
	NoHost Refusal = "no_host"
	// TooLong is a URL of more than MaxBytes in canonical form.
	TooLong Refusal = "too_long"
	// Malformed is any other URL that the standard calls a failure.
	Malformed Refusal = "malformed"
)

// refuseScheme refuses a reference that names another scheme than http and
// https. One that names none is accepted.
func refuseScheme(ref string) Refusal {
	scheme := schemeOf(ref)
	if scheme == "" || strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https") {
		return Accepted
	}
	return cmp.Or(otherSchemes[strings.ToLower(scheme)], NotCrawlable)
}

// otherSchemes are the schemes that pages name besides http and https often
// enough to be counted by themselves. The list bounds what labels there are.
var otherSchemes = func() map[string]Refusal {
	table := map[string]Refusal{}
	for scheme := range strings.FieldsSeq(`about blob data file ftp geo intent irc javascript magnet mailto news
		skype sms tel tg urn view-source viber whatsapp ws wss`) {
		table[scheme] = NotCrawlable + "_" + Refusal(scheme)
	}
	return table
}()

// NotCrawlable reports whether the refusal is for the scheme: the constant
// NotCrawlable, or one of a well-known scheme such as "not_crawlable_mailto".
func (r Refusal) NotCrawlable() bool { return strings.HasPrefix(string(r), string(NotCrawlable)) }

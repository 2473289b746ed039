package urls

import "strings"

// refuseScheme refuses a reference that names another scheme than http and
// https. One that names none is accepted.
func refuseScheme(ref string) Refusal {
	scheme := schemeOf(ref)
	if scheme == "" || strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https") {
		return Accepted
	}
	if len(scheme) <= longestScheme {
		if refusal, known := otherSchemes[strings.ToLower(scheme)]; known {
			return refusal
		}
	}
	return NotCrawlable
}

// longestScheme is the length of the longest of otherSchemes.
const longestScheme = len("view-source")

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

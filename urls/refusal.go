package urls

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

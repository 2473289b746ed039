package cluster

import (
	"fmt"
	"io"
)

// Secret is a text that does not show. However it is printed, logged or
// encoded, it is "[secret]", and so is a struct's field of it, unexported or
// not. The zero value is no secret. It cannot be compared.
type Secret struct {
	_ [0]func()
	// text is behind a pointer because fmt prints unexported fields by
	// reflection, past all methods: then it is an address that shows.
	text *string
}

// NewSecret hides a text; "" is no secret.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text}
}

// shown is what is seen of a Secret.
const shown = "[secret]"

// IsZero tells whether there is no secret.
func (s Secret) IsZero() bool { return s.text == nil }

// reveal returns the text.
func (s Secret) reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// String returns "[secret]".
func (Secret) String() string { return shown }

// Format prints "[secret]" whatever the verb.
func (Secret) Format(to fmt.State, _ rune) { _, _ = io.WriteString(to, shown) }

// MarshalText returns "[secret]", in JSON, YAML and logs too.
func (Secret) MarshalText() ([]byte, error) { return []byte(shown), nil }

// UnmarshalText takes the text of a flag, a variable or a file.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}

package kafka

import (
	"fmt"
	"io"
)

// Secret is a text that is never printed. Printed, logged or encoded it is "[secret]", also as a
// field of a struct, exported or not. The zero value is no secret. It cannot be compared.
type Secret struct {
	_ [0]func()
	// text is a pointer because fmt prints unexported fields by reflection, without their
	// methods: it prints only an address.
	text *string
}

// NewSecret hides a text; "" is no secret.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text}
}

const shown = "[secret]"

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.text == nil }

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

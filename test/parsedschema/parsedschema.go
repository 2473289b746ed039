// Package parsedschema compiles the JSON schema of the records of parsed, for tests.
package parsedschema

import (
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weftcrawl/weft/codecs"
)

// Compiled is the schema. It also checks formats, such as date-time.
var Compiled = sync.OnceValue(func() *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(codecs.ParsedSchema()))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	const id = "https://github.com/weftcrawl/weft/codecs/parsed.schema.json"
	if err := c.AddResource(id, doc); err != nil {
		panic(err)
	}
	return c.MustCompile(id)
})

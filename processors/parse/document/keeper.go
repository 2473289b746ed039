package document

import "strings"

// keeper copies the strings that a page keeps. The strings of a stream are parts of one copy of
// the body, which must not stay in memory with the page. Many strings share one allocation.
type keeper struct{ chunk strings.Builder }

// keptChunk is the size of an allocation. The links of most pages fit into one or two.
const keptChunk = 2 << 10

func (k *keeper) keep(s string) string {
	if k.chunk.Cap()-k.chunk.Len() < len(s) {
		k.chunk = strings.Builder{}
		k.chunk.Grow(max(len(s), keptChunk))
	}
	from := k.chunk.Len()
	k.chunk.WriteString(s)
	return k.chunk.String()[from:]
}

func (k *keeper) reset() { k.chunk.Reset() }

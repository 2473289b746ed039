package supervise

import (
	"runtime/debug"
	"strings"
)

// StackTop returns where the panic began that is being recovered from.
func StackTop() string {
	const frames = 8
	lines := strings.Split(string(debug.Stack()), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic(") && i+2 < len(lines) { // and its place
			lines = lines[i+2:]
			break
		}
	}
	return strings.Join(lines[:min(len(lines), 2*frames)], "\n")
}

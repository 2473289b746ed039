package scratch

import (
	"errors"
	"fmt"
	"os"
)

// File makes a temporary file without a name in the file system, so that it ends with the process.
func File() (*os.File, error) {
	file, err := os.CreateTemp("", "weft-*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("make a temporary file: %w", err), file.Close())
	}
	return file, nil
}

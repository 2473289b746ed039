package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/urls"
)

// maxSeedBytes bounds a line of seeds: a URL and its options.
const maxSeedBytes = 64 << 10

// argumentSeeds are URLs of the command line as records for the topic seeds.
func argumentSeeds(arguments []string) ([][]byte, error) {
	var seeds [][]byte
	for _, argument := range arguments {
		if _, refusal := urls.Parse(argument); refusal != urls.Accepted {
			return nil, usagef("%q cannot be crawled: %s", argument, explain(refusal))
		}
		seeds = append(seeds, []byte(argument))
	}
	return seeds, nil
}

// seedLines yields the records of a file, or of in when path is "-": a URL or a
// JSON object a line, empty lines and lines that begin with # left out. It ends
// with the first line that is not a seed. Records are the caller's to keep.
func seedLines(path string, in io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if path != "-" {
			file, err := os.Open(path)
			if err != nil {
				yield(nil, usagef("read seeds: %w", err))
				return
			}
			defer file.Close()
			in = file
		}
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxSeedBytes)
		number := 0
		for scanner.Scan() {
			number++
			line := bytes.TrimSpace(scanner.Bytes())
			if len(line) == 0 || line[0] == '#' {
				continue
			}
			if err := checkSeed(line); err != nil {
				yield(nil, usagef("seeds, line %d of %s: %w", number, path, err))
				return
			}
			if !yield(bytes.Clone(line), nil) {
				return
			}
		}
		if err := scanner.Err(); err != nil {
			yield(nil, usagef("seeds, line %d of %s: %w", number+1, path, err))
		}
	}
}

// checkSeed says what is wrong with one line of seeds, if anything.
func checkSeed(line []byte) error {
	seeds, bad := codecs.DecodeSeeds(line)
	if len(bad) > 0 {
		return fmt.Errorf("not a seed: %s", bad[0].Reason)
	}
	for _, seed := range seeds {
		if _, refusal := urls.Parse(seed.URL); refusal != urls.Accepted {
			return fmt.Errorf("%q cannot be crawled: %s", seed.URL, explain(refusal))
		}
	}
	return nil
}

// explain says for people why a URL is refused.
func explain(refusal urls.Refusal) string {
	switch {
	case refusal == urls.Empty:
		return "it is empty"
	case refusal == urls.NotAbsolute:
		return "it has no scheme such as https://"
	case refusal.NotCrawlable():
		return "its scheme is neither http nor https"
	case refusal == urls.NoHost:
		return "it names no host"
	case refusal == urls.TooLong:
		return fmt.Sprintf("it is longer than %d bytes", urls.MaxBytes)
	default:
		return "it is not a valid URL"
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return path == "-" || err == nil && !info.IsDir()
}

package main

import "github.com/weftcrawl/weft/processors"

// fetchOptions are those of the stage fetch in this version of the program.
// What depends on the crawl comes from its definition.
func fetchOptions() processors.FetchOptions {
	options := processors.DefaultFetchOptions()
	options.Client.Version = version()
	return options
}

package main

import (
	"strings"

	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/topics"
)

// fetchOptions are those of the stage fetch for a crawl.
func fetchOptions(d topics.Definition) processors.FetchOptions {
	options := processors.DefaultFetchOptions()
	options.Client.UserAgent = d.UserAgent
	options.Client.Contact = d.Contact
	options.Client.Version = strings.Trim(version(), "()")
	options.Client.AllowPrivate = d.AllowPrivate
	return options
}

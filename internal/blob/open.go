package blob

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// Open returns the bucket that location names, without using it yet:
//
//	s3://bucket/prefix?endpoint=http://127.0.0.1:9000&region=eu-west-1&path-style=true
//	file:///var/lib/weft/checkpoints
//	/var/lib/weft/checkpoints
//
// Prefix and parameters may be left out. Region and credentials come from the
// SDK's default chain: environment, files, the machine's role. A location that
// holds credentials is refused.
func Open(ctx context.Context, location string) (Bucket, error) {
	if location == "" {
		return nil, errors.New("the location is empty")
	}
	if !strings.Contains(location, "://") {
		return newFolder(location)
	}
	u, err := url.Parse(location)
	if err != nil {
		return nil, errors.New("the location is not a URL") // its text may hold a secret
	}
	if u.Fragment != "" {
		return nil, errors.New("the location has a fragment: # is %23 in a path")
	}
	if u.User != nil {
		return nil, errors.New("credentials belong in the environment or in the SDK's files, not in the location")
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" && u.Host != "localhost" || u.RawQuery != "" || u.Path == "" {
			return nil, errors.New("a file URL is file:///path")
		}
		return newFolder(u.Path)
	case "s3":
		o, err := s3Options(u)
		if err != nil {
			return nil, err
		}
		return newS3(ctx, o)
	}
	return nil, fmt.Errorf("scheme %q is neither s3 nor file", u.Scheme)
}

// options of an S3 bucket, see Open.
type options struct {
	bucket, prefix, endpoint, region string
	pathStyle                        bool
}

func s3Options(u *url.URL) (options, error) {
	o := options{bucket: u.Host, prefix: strings.Trim(u.Path, "/")}
	if o.bucket == "" {
		return o, errors.New("an S3 location is s3://bucket/prefix: it names no bucket")
	}
	if o.prefix != "" {
		if err := checkKey(o.prefix); err != nil {
			return o, err
		}
		o.prefix += "/"
	}
	parameters, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return o, errors.New("the location's parameters are not name=value&name=value")
	}
	for name, values := range parameters {
		value := values[0]
		if len(values) > 1 {
			return o, fmt.Errorf("the location says %s more than once", name)
		}
		switch name {
		case "region":
			o.region = value
		case "endpoint":
			e, err := url.Parse(value)
			if err != nil || e.User != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "" {
				return o, errors.New("endpoint is not http://host:port")
			}
			o.endpoint = value
		case "path-style":
			on, err := strconv.ParseBool(value)
			if err != nil {
				return o, fmt.Errorf("path-style %q is neither true nor false", value)
			}
			o.pathStyle = on
		default:
			return o, fmt.Errorf("an S3 location has no parameter %q: endpoint, region, path-style", name)
		}
	}
	return o, nil
}

func newFolder(path string) (*folder, error) {
	root, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find folder %s: %w", path, err)
	}
	return &folder{root: root}, nil
}

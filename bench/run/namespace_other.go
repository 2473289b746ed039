//go:build !linux

package main

import (
	"context"
	"errors"
	"io"
)

var errNoNamespace = errors.New("run sick needs the network and mount namespaces of Linux")

func inNamespace(context.Context, []string, io.Writer) error { return errNoNamespace }

func settle(string) error { return errNoNamespace }

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/weftcrawl/weft/internal/broker"
)

// serveBroker is a command of the test scripts: broker DIR ADDRESSFILE serves an
// embedded broker until it is interrupted.
func serveBroker() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b, err := broker.Open(broker.Options{Dir: os.Args[1], Listen: "127.0.0.1:0", Listener: broker.Listener{Trusted: true}})
	if err == nil {
		err = os.WriteFile(os.Args[2], []byte("WEFT_BROKERS="+b.Addr()+"\n"), 0o644)
	}
	if err == nil {
		<-ctx.Done()
		err = b.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Main runs the command line of this process and ends the process with the code that run returns. The first signal that
// ends programs ends the context. A reader of the output that ends does not end the process: writing fails then.
func Main(run func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		// A terminal that is closed ends what runs in it in good order.
		signals = append(signals, syscall.SIGHUP)
	}
	// It is not ignored, because programs that are started would ignore it, too.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/system/clock"
)

// acceptPause lies between two tries to take a connection.
const acceptPause = 100 * time.Millisecond

// serveTCP brings each connection to a pod, until ctx ends and all of them have.
func (f *forward) serveTCP(ctx context.Context, listener net.Listener) {
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	var connections sync.WaitGroup
	defer connections.Wait()
	for {
		client, err := listener.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = client.Close()
			}
			return
		case err != nil:
			// Out of file descriptors, mostly: that passes.
			f.logger.Error("a connection could not be taken", "of", f.found.source, "error", err)
			clock.Sleep(ctx, acceptPause)
			continue
		}
		connections.Go(func() { f.carry(ctx, client) })
	}
}

// carry copies both ways until one side breaks or both have ended.
func (f *forward) carry(ctx context.Context, client net.Conn) {
	defer client.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	to, err := f.connect(ctx, newTried())
	if err != nil {
		f.logger.Warn("a connection found no pod", "of", f.found.source, "error", err)
		return
	}
	defer to.Close()
	stop := context.AfterFunc(ctx, func() { _ = errors.Join(client.Close(), to.Close()) })
	defer stop()
	var requests sync.WaitGroup
	requests.Go(func() {
		if _, err := io.Copy(to, client); err != nil {
			cancel()
			return
		}
		_ = to.CloseWrite()
	})
	_, _ = io.Copy(client, to)
	// The pod has said all: what the client still sends no one reads.
	_ = client.Close()
	requests.Wait()
}

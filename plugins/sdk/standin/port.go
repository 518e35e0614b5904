// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

const (
	// firstPort and lastPort are below the ports that Linux and macOS give to those who ask for any: none of them can
	// take one before the plugin listens there.
	firstPort, lastPort = 20_000, 32_000
	portTries           = 100
)

// FreePort returns a port of 127.0.0.1 on which no one listens now, for a program that is started next.
func FreePort(ctx context.Context) (int, error) {
	var err error
	for range portTries {
		port := firstPort + rand.IntN(lastPort-firstPort)
		var listener net.Listener
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if listener, err = new(net.ListenConfig).Listen(ctx, "tcp", address); err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("find a free port: %w", err)
}

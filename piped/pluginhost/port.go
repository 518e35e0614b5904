// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/pipedeck/pipedeck/system/freeport"
)

// choosePort returns the configured port after making sure that no one listens there, or a free one when
// the configuration says 0. PipeCD v1 does not look, and then talks to whoever is there.
func choosePort(plugin string, configured int) (int, error) {
	if configured == 0 {
		return freeport.Choose()
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(configured))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return 0, busyPortError(plugin, configured)
	}
	listener.Close()
	// Some systems let two sockets share a port when one listens on all interfaces.
	if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
		conn.Close()
		return 0, busyPortError(plugin, configured)
	}
	return configured, nil
}

func busyPortError(plugin string, port int) error {
	owner := cmp.Or(portOwner(port), "another process")
	return fmt.Errorf(
		"port %d of plugin %q is in use by %s: end that process, or set another port (0 chooses a free one) in the "+
			"piped configuration",
		port,
		plugin,
		owner,
	)
}

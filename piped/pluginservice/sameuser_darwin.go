// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import "net"

// sameUser lets every process of this machine through: the system does not tell whose a TCP connection is.
// What such a process may do is bounded by what is in the hands of plugins without a link.
func sameUser(net.Conn) error { return nil }

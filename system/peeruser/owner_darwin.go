// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package peeruser

import "net/netip"

// owner finds nothing: macOS does not report whose a TCP connection is.
func owner(_, _ netip.AddrPort) (uid uint64, found bool) { return 0, false }

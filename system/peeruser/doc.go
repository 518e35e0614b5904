// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package peeruser refuses connections over loopback that a process of another user has made: the loopback interface
// belongs to all users of a machine.
//
// Linux lists the user of each socket. macOS does not, so every connection passes there. Connections from other
// machines pass too, because no system knows their users. The plugin service and the admin port of piped, and the
// control plane and the metrics port of an environment use it.
package peeruser

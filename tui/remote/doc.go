// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package remote shows the terminal UI to people who watch over SSH. It is a client of the deck API that only reads:
// the client that it hands to the UI has no other call, and the UI is that of app.Guest, which acts on nothing.
//
// A server lets in who has a listed public key, or the one-time password, which is another one after each login. It
// serves one session with a terminal on each connection and nothing else: no command, no subsystem, no forwarding. Run
// owns every goroutine, says to watchers why it ends, and returns when all of them have ended.
//
// Bounds: the number of UIs, passwords and keys that a connection may try, the time of a login, of a start, and without
// a sign of life. The caller's listener bounds connections; those with a method Trust get that call after their login.
// A connection that fails ends by itself and says nothing to others.
package remote

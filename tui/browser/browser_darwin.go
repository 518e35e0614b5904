// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package browser

// command opens the browser that the user prefers.
const command = "open"

// Available reports whether a browser could be seen.
func Available(environ []string) bool { return !set(environ, "SSH_CONNECTION", "SSH_TTY") }

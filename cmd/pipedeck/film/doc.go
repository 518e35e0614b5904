// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package film plays recorded sessions through the terminal UI without a terminal, and writes what it shows: a
// recording of the terminal (asciicast v2), or one picture (SVG).
//
// The time is that of the session, and nothing runs next to it: the same session with the same options is always the
// same bytes. The command export calls it.
package film

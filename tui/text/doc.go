// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package text prepares foreign text for a terminal: it takes out whatever could steer the terminal
// (escape sequences, control and bidirectional characters), and measures, cuts and pads by columns.
//
// After Clean or Line every character has a width on which terminals agree, and none acts on the
// terminal. The rooms of the user interface and the plain readers call it; it cannot fail.
package text

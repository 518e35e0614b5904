// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package app is the terminal UI: one model that takes messages, keeps what is selected, and lays the
// views out. It is a client of the deck API and keeps no truth of its own.
//
// Run owns every goroutine it starts (the stream of events, the log of one stage, single calls) and
// waits for them; it restores the terminal on every way out, panics included. Nothing is drawn without
// a reason: an event, a key, or one tick a second while a duration on the screen grows (ten a second
// while the environment starts, for its spinner). A lost connection shows a banner and is tried again;
// Run ends by itself only when the environment was stopped on purpose.
package app

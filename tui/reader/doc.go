// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package reader reports what happens in an environment without a screen: one line per event for pipes
// and CI (Plain), full sentences for screen readers (Sentences), one JSON object per line for programs (JSON).
//
// All three read the deck API through one Differ, which turns objects that arrive again and again into
// changes: each is reported once, also when the server repeats its whole state. They end when Until is
// satisfied, when ctx ends, or with an error when the stream or the writer fails; the order of lines
// is the order of events.
package reader

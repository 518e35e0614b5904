// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package app is the terminal UI. It is a client of the deck API and keeps no truth.
//
// There is one model of Bubble Tea. It hands each message to the part that the message is for; the parts are plain
// structs that know nothing of Bubble Tea's loop: link (what the deck API has sent), selection (what the user looks
// at), panes (each with its cursor), overlays (a stack of dialogs and the help), input (what keys mean), actions (what
// the user asks the environment for). arrange is a pure function that gives each pane its rectangle. Nothing waits in
// Update: whatever takes time is a command.
//
// Run owns every goroutine it starts (the stream of events, the log of one stage, single calls) and
// waits for them; it restores the terminal on every way out, panics included. Nothing is drawn without
// a reason: an event, a key, or one tick a second while a duration on the screen grows (ten a second
// while the environment starts, for its spinner). A lost connection shows a banner and is tried again;
// Run ends by itself only when the environment was stopped on purpose.
package app

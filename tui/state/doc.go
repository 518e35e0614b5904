// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package state holds what the deck API last sent, as objects by id.
//
// Apply takes events in their order and never fails: unknown kinds are ignored, and while the server
// repeats its whole state after a Reset the former state stays visible until the new one is complete.
// The screen and the plain readers both use it. It keeps no truth and can be thrown away.
package state

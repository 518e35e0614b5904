// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package deckapi serves DeckService: the whole state and then every change to user interfaces,
// stage logs as they are written, and the actions of a user.
//
// It holds no state. A watcher that reads too slowly is sent a Reset and the whole state again.
// Refused actions say what to do instead.
package deckapi

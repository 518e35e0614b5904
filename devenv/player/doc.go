// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package player plays recorded sessions: Player has a position in a session, which goes on with the clock or is moved
// by a user, and Server is the deck API of the environment as it was at that position.
//
// Watchers get the changes as the position passes them, and the whole state after a jump. Everything that would change
// an environment is refused.
package player

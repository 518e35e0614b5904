// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package recorder writes what the deck API of an environment says into the file of a session, as a client of it.
//
// The environment never waits for the recorder: a client that is too slow gets the whole state again, and a file that
// takes no more ends the recording, not the environment. Secrets are masked before the deck API has them.
package recorder

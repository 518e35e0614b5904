// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package session connects a command to an environment: Target names the environment, Connect and Dial reach the
// process that runs it, State is what it has at one moment. Session holds all of these for commands that ask or read
// once.
//
// Errors are *exit.Error with the next step; commands in them carry the flags that find the same environment.
package session

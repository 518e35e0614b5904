// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package mcp serves the Model Context Protocol, by which assistants look at an environment.
//
// Each tool runs a command of pipedeck with -o json and returns what it prints: assistants get the same words, fields
// and next steps as scripts, with secrets masked as everywhere. Tools only read, unless the user allows changes. What a
// tool returns, how long it takes and how many run at once are bounded.
package mcp

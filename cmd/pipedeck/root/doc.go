// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package root assembles the commands of the program pipedeck and runs a command line.
//
// It is apart from the program so that the reference of the commands can be generated from them: see package reference.
package root

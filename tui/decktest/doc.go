// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package decktest is a deck server for tests: real gRPC on 127.0.0.1, which sends what the test sets.
//
// Tests of the user interface publish objects and read which calls came. Everything it starts ends
// with the test.
package decktest

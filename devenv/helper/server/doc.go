// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package server does in the program pipedeck-more what package helper is asked for: it is the only one that imports
// the libraries for it. It serves one connection and ends with it.
package server

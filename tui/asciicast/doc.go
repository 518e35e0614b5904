// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package asciicast writes recordings of a terminal in the format asciicast v2: a line of JSON about the terminal, and
// then one for each moment at which its output goes on.
//
// Writer gets whole screens and writes only the lines that have changed. The same screens are always the same bytes.
package asciicast

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package view draws the parts of the screen. A view is a plain struct that gets what to show; its
// Draw(width, height) returns exactly that many columns and lines, whatever it is given.
//
// Views do no I/O and know nothing of keys or messages. Strings in them have been cleaned
// (package text) before; the application does so where events come in.
package view

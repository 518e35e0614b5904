// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package picture draws screens of the terminal UI as SVG: words as text, frames and edges as lines, blocks as areas.
// It embeds no font and names no file, so that a picture is shown the same on a page, in a mail and offline. What is on
// the screen is escaped.
//
// The command export and the tests of the UI, which draw the pictures of the documentation, call it.
package picture

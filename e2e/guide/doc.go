// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package guide follows the pages of the documentation as their readers do: its tests write the files, run the commands
// and compare what comes out. A page that no longer works fails them. CONTRIBUTING.md lists the marks of blocks.
//
// A reader follows docs/plugin-author-guide.md, whose plugins need no cluster. A visitor follows every other page with
// the built programs, in an empty home.
package guide

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package page reads the pages of the documentation: their blocks of code, and what the mark behind the language of a
// block says about it. The tests of the documentation and the stories that run the pages call it. CONTRIBUTING.md lists
// the marks. A page with a block that Read cannot tell apart from prose is an error, so that no block is missed.
package page

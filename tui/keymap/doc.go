// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package keymap holds the key bindings as data: keys, what they do, where they hold, and why one does
// nothing just now. The footer, the help and the dispatch of keys are all made from it, so they agree.
//
// The application asks Find for what a key means in the place that has the focus.
package keymap

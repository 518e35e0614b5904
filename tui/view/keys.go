// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

// Keys are the keys of the actions that texts of panes name. An action without a key is one that the user may not take,
// and no text names it.
type Keys struct{ Approve, Break, Sync string }

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package browser shows addresses of this machine in the user's browser.
//
// It only does so where a user can see one, and never waits for it to end.
package browser

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package spelling finds what a misspelt name was meant to be. Its functions are pure.
package spelling

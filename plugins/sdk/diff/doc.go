// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package diff compares values for plan previews, live states and drifts: [Values] the decoded form of two documents,
// field by field, and [Lines] two texts. Neither hides secrets: what is compared is what is shown.
package diff

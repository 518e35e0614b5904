// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

// Removal is what becomes of an application whose configuration is deleted in Git.
type Removal string

const (
	// RemovalKeep shows the application as orphaned; what it has deployed runs on. It is the default.
	RemovalKeep Removal = "keep"
	// RemovalOrphan forgets the application; what it has deployed runs on.
	RemovalOrphan Removal = "orphan"
	// RemovalPrune deletes what the application has deployed, and then the application.
	RemovalPrune Removal = "prune"
)

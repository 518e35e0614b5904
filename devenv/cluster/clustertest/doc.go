// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package clustertest is the one suite that every cluster provider passes. A provider's own test
// says how to make it and how to find what it left, and calls Run.
package clustertest

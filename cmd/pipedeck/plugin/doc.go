// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package plugin holds the commands below pipedeck plugin: for authors of plugins, and for the binaries of plugins.
package plugin

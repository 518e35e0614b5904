// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package gobuild runs the go command for the programs that an environment compiles: its own, the embedded Kubernetes,
// plugins from sources and the programs of images.
package gobuild

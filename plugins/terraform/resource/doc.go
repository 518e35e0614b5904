// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package resource has the resources of a state as a tree of modules. It holds addresses, types and ids, and no other
// values: those may be secrets. The live state of the plugin calls it.
package resource

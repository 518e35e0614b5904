// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package module reads the configuration of an application without running a program: where its state is, which of its
// variables are sensitive, and the versions of what it uses. The other packages of the plugin call it. A file that
// cannot be read is an error with its place.
package module

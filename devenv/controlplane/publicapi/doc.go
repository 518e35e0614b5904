// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package publicapi serves APIService, which pipectl and CI jobs call. One API key opens all of it.
//
// Answers, codes and texts that scripts may match are PipeCD v1's. All state is in package store.
package publicapi

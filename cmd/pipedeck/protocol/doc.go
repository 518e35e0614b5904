// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package protocol describes the protocol between piped and its plugins, for plugins in other languages than Go.
package protocol

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package sdktest runs a plugin inside a test: real gRPC over 127.0.0.1 in both directions, with a Piped
// that plays piped's part and records what the plugin reports. Only tests import it.
package sdktest

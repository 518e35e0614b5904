// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package client dials the control plane of an environment on this machine as a user: with the API
// key from the environment's directory and without TLS, which loopback does not need.
package client

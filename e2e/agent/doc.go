// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package agent holds the stories of the agent: each starts the program cmd/piped with the environment's control plane,
// without a cluster, and checks what a user of that control plane sees.
package agent

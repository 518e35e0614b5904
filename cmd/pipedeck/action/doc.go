// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package action holds the commands that ask an environment to act: sync, approve, skip, cancel, restart,
// and those that stop deployments at breakpoints: break, continue, shell.
package action

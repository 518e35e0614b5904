// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package inspect holds the commands that only read an environment: status, apps, deployments, plugins, logs, open,
// and tree, diff, events and history of one application.
package inspect

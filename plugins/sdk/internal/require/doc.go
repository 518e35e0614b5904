// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package require holds the assertions of the SDK's tests and test kits. They end the test that they fail. A module for
// tests would be in the module graph of every plugin, so the SDK has the few that it needs itself.
package require

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package insights measures how deployments went: how often, how long from a commit, how many failed, and how long
// until the next success. It is a pure function of the history; the deck API calls it. It cannot fail.
package insights

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package report turns the end of a run of pipedeck ci into what people and machines read: a table, JUnit XML,
// Markdown, JSON, and the workflow commands of GitHub Actions.
//
// Build makes a Run of the repository and of the final state of the deck; it has every application of the repository,
// also those that were not deployed. The writers are pure functions of a Run. They clean what others wrote: names and
// reasons cannot steer a terminal, break a table, or be taken for markup or for a command. Files replaces the files of
// --junit and --report as a whole, and finds before a run that a file cannot be written.
package report

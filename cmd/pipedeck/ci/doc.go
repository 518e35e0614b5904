// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package ci is the engine of `pipedeck ci`: what a run deploys, in which order, what it waits for, and what it does
// for stages that wait for a user. The command starts the environment and shows its events; a Run inspects the state
// after each event and acts.
//
// A run with a Range deploys the base first. When every application has settled there, it moves the watched branch to
// HEAD, so that piped plans the change as it does for a merged commit. The repository of the user is only read. What a
// run has done is an Outcome, for whoever reports it.
//
// Errors are *exit.Error with the exit code of the command and the next step.
package ci

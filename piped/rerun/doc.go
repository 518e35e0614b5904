// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package rerun executes a stage once more for the author of its plugin, apart from its deployment, and reports the log
// and the result to the user who waits.
//
// A re-run ends when it is over, when the user leaves or when piped stops; in the latter two cases its plugin has to
// stop, as in a deployment that a user cancels. At most four run at the same time. Nothing of a re-run is kept after a
// restart of piped. Secrets are masked.
//
// The agent hands over what the control plane asks for; the scheduler executes.
package rerun

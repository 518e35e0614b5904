// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command wait is the plugin of the stage WAIT, which lets time pass in a pipeline. piped starts it.
//
// The stage's "with" has one key, duration (required, more than 0). A stage that is run again after a
// crash of the agent goes on with the clock of its first run. A skip command ends it at once as skipped;
// with "allowSkip: true" in the plugin's config the stage also offers that to users.
package main

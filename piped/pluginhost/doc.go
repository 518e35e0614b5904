// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package pluginhost owns the plugin processes of a piped: it makes a copy of their binaries, starts them side
// by side, watches them and starts them again when they die or hang.
//
// It guarantees that no caller waits for ever on a plugin: a start has a deadline, an exit is noticed at
// once and reported to the callers of that plugin, one that answers no question for its health is ended, and a
// plugin that cannot be started leaves the others working. A changed binary takes over without ending a call.
// When piped ends, by whatever way, its plugins end too. What a plugin process has started is ended, and what it has
// written to stage logs is reported, before its end is reported to anyone; so attempts at a stage never overlap.
//
// Plugins that can (link.go) get their configuration and their connections as inherited descriptors; the others
// get PipeCD v1's command line and loopback. A Service learns which is which, and what each has been given to
// work on.
//
// The agent runs the Host; the planner and the scheduler ask it for the plugin that owns a stage and call
// that plugin. Calls to a plugin without a process fail with gRPC code Unavailable and an error that says
// why (ExitError, NotRunningError).
package pluginhost

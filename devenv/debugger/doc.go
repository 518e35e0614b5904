// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package debugger runs Delve next to the processes of a plugin, one after the other, at an address that stays the
// same.
//
// It attaches to a process that runs, so that the plugin keeps its connections to piped, and leaves it running when it
// ends. It listens on the loopback interface, for the user who runs it. A process that stands at a breakpoint is never
// left for the one that replaces it. piped finds by itself that a debugger holds the plugin, and stops its clocks.
//
// The environment runs one Debugger for each plugin that is debugged. Errors, such as a system that does not let
// processes be debugged, go to Report; the next process of the plugin is tried again.
package debugger

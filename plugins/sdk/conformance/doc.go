// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package conformance checks that the program of a plugin, in whatever language it is written, does what piped expects:
// PipeCD v1's piped and ours. It is a registry of cases; each starts the program as piped does, calls it, cancels it,
// stops it, or looks at what it reports, and says what piped and users experience when the case fails. The command
// pipedeck plugin test runs it, and docs/conformance.md lists the cases.
//
// It checks the protocol, not the plugin's work: a stage without options may fail, which is noted. A stage with the
// options of the caller has to succeed within the run limit. What a plugin need not do is not applicable, and no
// failure. The package speaks the wire alone, so it is no judge of how a plugin is built.
//
// A case that passes waits for conditions, and for clocks only where nothing may happen. Each case is bounded.
package conformance

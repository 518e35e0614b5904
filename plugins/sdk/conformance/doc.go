// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package conformance checks that the program of a plugin, in whatever language it is written, does what piped expects:
// PipeCD v1's piped and ours. It starts the program as piped does, calls it, cancels it, stops it, starts it again, and
// looks at what it reports.
//
// It checks the protocol, not the plugin's work: a stage without options may fail, which is noted. A stage with the
// options of the caller has to succeed within the run limit. What a plugin need not do is not applicable, and no
// failure.
package conformance

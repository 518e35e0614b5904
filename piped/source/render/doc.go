// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package render fills templates of applications: Go's text/template with the functions of sprig, as
// PipeCD v1 does.
//
// Templates come from Git and are not trusted. A template cannot read files or the environment, reach the
// network or change a value, and its size, its output, the memory that it takes and the time that it runs
// are bounded. Functions that would break this are refused by name; the rest is metered.
//
// Package source calls it. It fails with *Error, which has the place in the template.
package render

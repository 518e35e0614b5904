// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package due decides whether commits call for a deployment of an application. The trigger uses it, and so does
// whoever says beforehand what the trigger will do: plan previews, and `pipedeck ci`, which is compiled without the
// libraries for Git that the trigger needs.
//
// It reads nothing: callers pass the configuration and the files that differ. Its errors are those of the patterns in a
// configuration, and the caller's own.
package due

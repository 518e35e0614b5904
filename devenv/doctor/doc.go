// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package doctor looks at this machine before an environment does: what is missing, too small or
// left over, why that matters, and the command that fixes it.
//
// The checks run side by side, each within a bound, and change nothing. They see the machine
// through System alone.
package doctor

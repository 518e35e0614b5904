// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package child runs work that a user has written, templates and scripts, in processes of this very program, so that a
// limit can end it: nothing else ends a template or a script that goes on and on, or that takes all memory.
//
// A process gets one job at a time and stays for the next one for a while. It sees nothing of the environment of its
// parent and ends with it. [Serve] is its side, which main calls first; [Pool] is the parent's. Jobs and answers travel
// as CBOR, which keeps whole numbers, fractions and nulls apart. A job that needs more than its limits ends with a
// [LimitError].
//
// Packages helm and health call it.
package child

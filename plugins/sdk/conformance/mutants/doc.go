// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command mutants is a plugin that makes one mistake of those that authors of plugins make. The test of the conformance
// suite runs it: each mistake has to be found by the case that is for it. The name under which the program is started
// says which mistake; package fault lists them, and as "healthy" it makes none.
//
// It speaks the protocol without the SDK, because the SDK prevents many mistakes; those that begin with sdk- use it.
// It is no example of a plugin.
package main

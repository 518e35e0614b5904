// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package health judges objects by the rules of the piped configuration: expressions in CEL and scripts in Lua, for the
// kinds whose status nothing else understands.
//
// [Compile] refuses a rule that cannot work, with its place. An expression has a bound of cost and of time and runs in
// this process; a script has bounds of instructions, time and memory, sees no file, network or program, and runs in a
// separate process ([ServeIfChild]). A rule that fails for an object gives an error, never a panic and never a wait
// without an end. What a rule leaves open is judged as without it.
//
// Packages rollout and livestate ask it about each object. They keep nothing of it.
package health

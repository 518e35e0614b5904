// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package gobuild

import "os"

// A package is compiled once for all programs that are built with the same settings: those below. tools/build.sh has
// the same ones. docs/decisions/0029 says why.

// withoutC leaves C out of programs, and so the C compiler, and one variant of each package above net.
const withoutC = "CGO_ENABLED=0"

// withoutPaths keeps the place of the sources out of programs: the packages of another clone are the same.
const withoutPaths = "-trimpath"

// Environ is added to the environment of the go command that builds a program of this repository.
func Environ() []string { return []string{"GOFLAGS=-buildvcs=false", withoutC} }

// Flags are those of `go build` for a program of this repository. It has no tables for debuggers, which the linker
// would spend a third of its time on.
func Flags() []string { return []string{withoutPaths, "-ldflags=-s -w"} }

// Shared returns what is added to the flags and to the environment of the go command for a program of a user, so that
// it shares compiled packages with the programs of this repository. usesC is true for a program with packages in C;
// such a program, and the user's own CGO_ENABLED, keep C.
func Shared(usesC bool) (flags, environ []string) {
	flags = []string{withoutPaths}
	if _, chosen := os.LookupEnv("CGO_ENABLED"); !chosen && !usesC {
		environ = []string{withoutC}
	}
	return flags, environ
}

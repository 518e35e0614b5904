// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package gobuild

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A package is compiled once for all programs that are built with the same settings: those below. tools/build.sh and
// the Makefile have the same ones. docs/decisions/0029 and 0031 say why.

// withoutC leaves C out of programs, and so the C compiler, and one variant of each package above net.
const withoutC = "CGO_ENABLED=0"

// withoutPaths keeps the place of the sources out of programs: the packages of another clone are the same.
const withoutPaths = "-trimpath"

// noTables makes a compiler leave out the tables for debuggers, which are an eighth of its time.
const noTables = "-dwarf=false"

// withoutTables leaves the tables for debuggers out of all packages.
const withoutTables = "-gcflags=all=" + noTables

// linkedWithoutTables leaves them, and the table of symbols, out of a program: the linker writes them even where no
// package has its tables. Stack traces and profiles do not need them.
const linkedWithoutTables = "-ldflags=-s -w"

// fewCores is up to how many cores each compiler uses one core: the packages keep them all busy. With more cores, few
// packages are left at the end of a build, and a compiler may use several.
const fewCores = 4

// oneCore is what Compilers sets on machines with at most so many.
const oneCore = "GOMAXPROCS=1"

// Environ is added to the environment of the go command that builds a program of this repository.
func Environ() []string { return append(Compilers(), "GOFLAGS=-buildvcs=false", withoutC) }

// Flags are those of `go build` for a program of this repository. It has no tables for debuggers, which the linker
// would spend a third of its time on.
func Flags() []string {
	return append(Parallel(), withoutPaths, withoutTables, linkedWithoutTables)
}

// WithoutInlining returns flags of `go build` to append to Flags. With them, functions of the packages below the import
// paths are not inlined. For a package that several programs have, all of them need the same flags.
func WithoutInlining(paths ...string) []string {
	flags := make([]string, 0, len(paths))
	for _, path := range paths {
		// The last pattern that matches a package is the only one that counts for it.
		flags = append(flags, "-gcflags="+path+"/...="+noTables+" -l")
	}
	return flags
}

// Compilers is added to the environment of a go command. A compiler lives for seconds and most need little memory, so
// it collects garbage only above a limit. What the user has set stays.
func Compilers() []string {
	environ := unset("GOMEMLIMIT", "512MiB")
	if _, limited := os.LookupEnv("GOMEMLIMIT"); !limited {
		environ = append(environ, unset("GOGC", "off")...)
	}
	if runtime.NumCPU() <= fewCores {
		environ = append(environ, unset("GOMAXPROCS", "1")...) // as oneCore
	}
	return environ
}

// Alone returns the environment of Compilers for a build of one package, such as of a program after a save: there is no
// other compiler for the cores that the linker leaves.
func Alone(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(variable string) bool { return variable == oneCore })
}

// Parallel are the flags of `go build` that keep all cores busy in the environment of Compilers: the go command would
// run only as many compilers as each of them may use cores.
func Parallel() []string {
	if _, chosen := os.LookupEnv("GOMAXPROCS"); chosen || runtime.NumCPU() > fewCores {
		return nil
	}
	return []string{"-p=" + strconv.Itoa(runtime.NumCPU())}
}

func unset(name, value string) []string {
	if _, chosen := os.LookupEnv(name); chosen {
		return nil
	}
	return []string{name + "=" + value}
}

// Shared returns what is added to the flags and to the environment of the go command for a program of a user, so that
// it shares compiled packages with the programs of this repository. usesC is true for a program with packages in C;
// such a program, and the user's own CGO_ENABLED, keep C. Flags for compilers or the linker in user, the GOFLAGS of the
// go command, replace ours: with them the program can have its tables for debuggers.
func Shared(usesC bool, user string) (flags, environ []string) {
	flags = append(Parallel(), withoutPaths)
	if !strings.Contains(user, "-gcflags") {
		flags = append(flags, withoutTables)
		if !strings.Contains(user, "-ldflags") {
			flags = append(flags, linkedWithoutTables)
		}
	}
	environ = Compilers()
	if _, chosen := os.LookupEnv("CGO_ENABLED"); !chosen && !usesC {
		environ = append(environ, withoutC)
	}
	return flags, environ
}

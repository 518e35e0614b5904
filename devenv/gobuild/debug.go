// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package gobuild

import (
	"regexp"
	"strings"
)

// Debug returns what is added to the flags and to the environment of the go command for a program that a debugger can
// follow: the packages of its module are compiled without the optimisations that move lines and variables, the
// others as `go build` and `go test` do, so that they share compiled packages. user is the GOFLAGS of the go command:
// its flags for compilers count for the other packages, and no flag of it leaves the tables for debuggers out.
func Debug(module, user string) (flags, environ []string) {
	flags = append(Parallel(), "-trimpath=false") // an editor opens the files by their paths
	// The last flag that matches a package is the only one that counts for it, and GOFLAGS come first.
	for _, flag := range splitFlags(user) {
		name, value, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		switch name {
		case "gcflags":
			flags = append(flags, "-gcflags="+tablesLeftOut.ReplaceAllString(value, ""))
		case "ldflags":
			flags = append(flags, "-ldflags="+value+" -s=0 -w=0")
		}
	}
	return append(flags, "-gcflags="+module+"/...=-N -l"), Compilers()
}

// tablesLeftOut is the compiler's flag that leaves the tables for debuggers out.
var tablesLeftOut = regexp.MustCompile(`--?dwarf=(?i:false|f|0)\b`)

// goFlag is one flag of GOFLAGS: the go command splits them at blanks, and quotes stand around a whole flag.
var goFlag = regexp.MustCompile(`'([^']*)'|"([^"]*)"|(\S+)`)

func splitFlags(text string) []string {
	var flags []string
	for _, parts := range goFlag.FindAllStringSubmatch(text, -1) {
		flags = append(flags, parts[1]+parts[2]+parts[3])
	}
	return flags
}

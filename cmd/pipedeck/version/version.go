// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package version knows the version and the commit of this build.
package version

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/system/owned"
)

// What the linker sets: -X github.com/pipedeck/pipedeck/cmd/pipedeck/version.linked=VERSION. The date is that of the
// commit.
var linked, commit, date = "", "", ""

// Build returns the version of the linker, else that of the module system, else "development".
func Build() string {
	if linked != "" {
		return linked
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}

// Info is what is known of this build.
type Info struct {
	Version string
	// Commit is the hash of the commit that this was built from, and CommitDate its time; empty when not known.
	Commit     string
	CommitDate string
	// Modified is set when files of the commit were changed before the build.
	Modified bool
	Go       string
	Platform string
}

// Read returns what is known of this build.
func Read() Info {
	i := Info{Version: Build(), Commit: commit, CommitDate: date, Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if i.Commit == "" {
		i.stamped()
	}
	if i.Commit == "" {
		if program, err := os.Executable(); err == nil {
			i.record(program)
		}
	}
	return i
}

// stamped takes what the go command has written into the program, which it does not do with -buildvcs=false.
func (i *Info) stamped() {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			i.Commit = setting.Value
		case "vcs.time":
			i.CommitDate = setting.Value
		case "vcs.modified":
			i.Modified = setting.Value == "true"
		}
	}
}

// recordSuffix ends the name of the file with the commit that tools/build.sh has built a program from. In the program
// itself, the commit would have it linked again after each commit.
const recordSuffix = ".commit"

// maxRecord bounds the file, in bytes.
const maxRecord = 200

// record takes the commit from the file next to the program: hash, date, and whether files were changed. It counts only
// for the program with which it was written, whose time it has.
func (i *Info) record(program string) {
	if resolved, err := filepath.EvalSymlinks(program); err == nil {
		program = resolved
	}
	built, err := os.Stat(program)
	if err != nil {
		return
	}
	written, err := os.Lstat(program + recordSuffix)
	if err != nil || !written.Mode().IsRegular() || written.Size() > maxRecord ||
		!written.ModTime().Truncate(time.Second).Equal(built.ModTime().Truncate(time.Second)) {
		return
	}
	content, err := os.ReadFile(program + recordSuffix)
	if err != nil || owned.CheckOwner(program, written) != nil {
		return
	}
	fields := strings.Fields(string(content))
	if len(fields) < 2 {
		return
	}
	i.Commit, i.CommitDate, i.Modified = fields[0], fields[1], len(fields) > 2
}

// String returns one line for users.
func (i Info) String() string {
	line := "pipedeck " + i.Version
	if i.Commit != "" {
		line += ", commit " + i.Commit[:min(len(i.Commit), 12)]
		if i.Modified {
			line += " with changes"
		}
		line += " of " + cmp.Or(i.CommitDate, "an unknown date")
	}
	return line + " (" + i.Go + ", " + i.Platform + ")"
}

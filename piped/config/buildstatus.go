// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// BuildState is the state of the build of a plugin from its sources.
type BuildState string

const (
	// BuildNone: the program is not built from sources here.
	BuildNone BuildState = ""
	// BuildRunning: the sources have changed, and the program is going to be replaced.
	BuildRunning BuildState = "building"
	// BuildDone: the program is that of the sources.
	BuildDone BuildState = "built"
	// BuildFailed: the sources have changed and do not compile; the program is the one before.
	BuildFailed BuildState = "failed"
)

// BuildStatus is what the builder of a plugin's program says to piped: it lies next to the program, in the file that
// BuildStatusFile names.
type BuildStatus struct {
	State BuildState
	// Reason is one line about a build that failed.
	Reason string
}

// BuildStatusFile returns the path of the status for the path of a program.
func BuildStatusFile(program string) string { return program + ".build" }

// WriteBuildStatus replaces the status of a program.
func WriteBuildStatus(program string, status BuildStatus) error {
	reason, _, _ := strings.Cut(strings.TrimSpace(status.Reason), "\n")
	path := BuildStatusFile(program)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	next := path + ".new"
	if err := os.WriteFile(next, []byte(string(status.State)+"\n"+reason+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// maxBuildStatus bounds the file in bytes.
const maxBuildStatus = 64 << 10

// ReadBuildStatus returns the zero value when there is no status.
func ReadBuildStatus(program string) BuildStatus {
	info, err := os.Lstat(BuildStatusFile(program))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxBuildStatus {
		return BuildStatus{}
	}
	data, err := os.ReadFile(BuildStatusFile(program))
	if err != nil {
		return BuildStatus{}
	}
	state, reason, _ := bytes.Cut(bytes.TrimSpace(data), []byte{'\n'})
	return BuildStatus{State: BuildState(state), Reason: string(reason)}
}

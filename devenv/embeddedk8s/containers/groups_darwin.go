// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import "os/exec"

// watches says that the memory of processes can be looked at.
const watches = false

// NewGroups returns groups that hold nothing: the system has no means that also counts what a process has started.
func NewGroups(string) *Groups { return &Groups{} }

// New returns nil: there is no group.
func (g *Groups) New(string, int64) *Group { return nil }

// Close does nothing.
func (g *Groups) Close() {}

func (g *Group) start(prepare func() *exec.Cmd) (*exec.Cmd, error) {
	command := prepare()
	return command, command.Start()
}

func (g *Group) overrun(int) bool { return false }

func (g *Group) exceeded(Exit) bool { return false }

func (g *Group) kill() {}

func (g *Group) release() {}

// onThread calls f.
func onThread(f func()) { f() }

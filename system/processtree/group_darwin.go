// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package processtree

import (
	"errors"
	"os/exec"
)

// CreateGroup fails: this system has no control groups.
func (*Tree) CreateGroup(string) error { return errors.New("this system has no control groups") }

// UseGroup does nothing: this system has no control groups.
func (*Tree) UseGroup(string) error { return nil }

// InGroup is false: this system has no control groups.
func InGroup() bool { return false }

// RemoveGroups does nothing here.
func (*Tree) RemoveGroups() {}

func (*Tree) grouped() map[int]bool { return nil }

func (*Tree) enter(*exec.Cmd) (leave func(), grouped bool) { return func() {}, false }

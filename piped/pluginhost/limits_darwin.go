// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"errors"
	"syscall"
)

// There are no control groups here: bound looks after limits.

type cgroups struct{}

type cgroup struct{}

func openCgroups() (*cgroups, error) { return nil, errors.New("macOS has no control groups") }

func (*cgroups) make(string, limits) (*cgroup, error) { return nil, errors.ErrUnsupported }

func (confinement) enter(*syscall.SysProcAttr)  {}
func (confinement) started(int)                 {}
func (confinement) leave()                      {}
func (confinement) exhausted(*ExitError) string { return "" }
func kernelMemoryKills() uint64                 { return 0 }

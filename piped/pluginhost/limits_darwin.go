// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"

	"github.com/pipedeck/pipedeck/system/processtree"
)

// There are no control groups here: bound looks after limits.

type cgroups struct{}

type cgroup struct{}

func openCgroups() (*cgroups, error) { return nil, errors.New("macOS has no control groups") }

func (*cgroups) create(*processtree.Tree, limits) (*cgroup, error) { return nil, errors.ErrUnsupported }

func (*cgroups) inherit(context.Context) ([]processtree.Process, error) { return nil, nil }

func (confinement) started(int)                 {}
func (confinement) exhausted(*ExitError) string { return "" }
func kernelMemoryKills() uint64                 { return 0 }

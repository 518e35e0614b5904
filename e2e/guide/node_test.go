// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build python

package guide

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestANewPluginForNodeIsTestedAndDeploys(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	r := newReader(t)
	printed := r.follow(t, sections(t, func(name string) bool { return name == forNode }))
	checkLoop(t, printed)
	// As a piped on another machine runs the packed file, with its modules.
	deployed := r.run(t, "mv node_modules ../elsewhere\n"+
		"pipedeck ci . --cluster none --plugin counter=../counter.run --timeout 3m")
	require.Contains(t, deployed, "All 3 steps are counted")
}

func TestNewPluginsForNodeOfEveryKindDeploy(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	// Node finds the modules in a directory above, so that one copy is enough for all.
	deployEachKind(t, newReader(t), "node",
		"test -d ../node_modules || { npm install --no-audit --no-fund && mv node_modules ..; }\nnpm test")
}

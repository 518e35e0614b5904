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
	require.Contains(t, r.run(t, "pipedeck plugin new counter --lang node\ncd counter"), "with the stage COUNTER")
	r.run(t, "npm install --no-audit --no-fund\nnpm test")
	tested := r.run(t, `pipedeck plugin test . --with '{"steps": ["one", "two"]}'`)
	require.Contains(t, tested, "> All 2 steps are done")
	require.Contains(t, r.run(t, "pipedeck validate example --plugin counter=."), "0 errors, 0 warnings")
	r.run(t, "git init -q -b main\ngit add .\ngit commit -q -m Begin")
	deployed := r.run(t, "pipedeck ci . --cluster none --plugin counter=. --timeout 3m")
	require.Contains(t, deployed, "> All 3 steps are done")
	require.Contains(t, deployed, "1 application: 1 SUCCESS")
	// As a piped on another machine runs it, with its modules.
	r.run(t, "pipedeck plugin pack . ../counter.run\nmv node_modules ../elsewhere")
	deployed = r.run(t, "pipedeck ci . --cluster none --plugin counter=../counter.run --timeout 3m")
	require.Contains(t, deployed, "All 3 steps are done")
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

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestCIDoesNotTakeTheHistoryOfOneClusterForThatOfAnother(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before  map[string]string
		started []string
		args    []string
		refused string
	}{
		"the same":           {map[string]string{"local": "embedded"}, nil, []string{"--cluster", "embedded"}, ""},
		"what auto may take": {map[string]string{"local": "embedded"}, nil, nil, ""},
		"another name": {map[string]string{"local": "embedded"}, nil, []string{"--cluster", "two=embedded"},
			"it has local=embedded, not two=embedded"},
		"one more": {map[string]string{"one": "embedded"}, nil,
			[]string{"--cluster", "one=embedded", "--cluster", "two=embedded"},
			"it has one=embedded, not one=embedded, two=embedded"},
		"another kind": {map[string]string{"local": "embedded"}, nil, []string{"--cluster", "none"},
			"it has local=embedded, not local=none"},
		"another context": {map[string]string{"local": "existing"}, []string{"--cluster=existing", "--context=a"},
			[]string{"--cluster", "existing", "--context", "b"}, "was kept with other clusters"},
		"the same context": {map[string]string{"local": "existing"}, []string{"--cluster=existing", "--context=a"},
			[]string{"--cluster", "existing", "--context", "a"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w, err := workspace.At(dir, "sw")
			require.NoError(t, err)
			require.NoError(t, w.Create())
			require.NoError(t, w.Publish(workspace.Running{PID: 1, Clusters: c.before,
				Restart: &workspace.Restart{Arguments: c.started, Directory: dir}}))
			require.NoError(t, w.Withdraw())
			repo := clitest.Repository(t, "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  timeout: soon\n")
			code, _, stderr := command(t.Context(), dir, append([]string{"ci", repo, "--name", "sw"}, c.args...)...)
			if c.refused == "" {
				require.NotContains(t, stderr, "other clusters")
				return
			}
			require.Equal(t, exit.WrongUsage, code)
			require.Contains(t, stderr, `environment "sw" was kept with other clusters: `)
			require.Contains(t, stderr, c.refused)
			require.Contains(t, stderr, "pipedeck down --name sw")
		})
	}
}

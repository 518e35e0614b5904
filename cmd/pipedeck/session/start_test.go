// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestAnEnvironmentIsStartedAgainAsItWasStarted(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		restart *workspace.Restart
		want    string
	}{
		"not known": {nil, "pipedeck up FLAGS DIR; or: pipedeck up FLAGS --sample hello-world"},
		"a repository and flags": {&workspace.Restart{Directory: here,
			Arguments: []string{"--cluster=none", "--plugin=mine=./my plugin", "--", "app"}},
			"pipedeck up FLAGS --cluster=none '--plugin=mine=./my plugin' app"},
		"a repository that looks like a flag": {&workspace.Restart{Directory: here,
			Arguments: []string{"--", "-app"}}, "pipedeck up FLAGS -- -app"},
		"the repository around another directory": {&workspace.Restart{Directory: "/src/my app",
			Arguments: []string{"--live", "--"}}, "cd '/src/my app' && pipedeck up FLAGS --live"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			w, err := workspace.At(root, "demo")
			require.NoError(t, err)
			require.NoError(t, w.Create())
			if c.restart != nil {
				require.NoError(t, w.Publish(workspace.Running{PID: 1, Address: "127.0.0.1:1", Restart: c.restart}))
			}
			want := strings.ReplaceAll(c.want, " FLAGS", " --name demo --state-dir "+root)
			require.Equal(t, want, StartCommand(w))

			target := &Target{Name: "demo", StateDir: root}
			_, _, err = target.Connect(t.Context())
			var failure *exit.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, exit.NotStarted, failure.Code)
			require.Equal(t, "start it with: "+want, failure.Hint)
		})
	}
}

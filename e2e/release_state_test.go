// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/gittest"
)

// TestTheStateOfAnEarlierReleaseIsRead starts an environment that 0.1.0 had left, with its repository at another place.
// testdata/state-VERSION.tar.gz holds the state directory and the repository; each release adds one.
func TestTheStateOfAnEarlierReleaseIsRead(t *testing.T) {
	t.Parallel()
	kept, err := filepath.Glob("testdata/state-*.tar.gz")
	require.NoError(t, err)
	require.NotEmpty(t, kept)
	for _, archive := range kept {
		t.Run(filepath.Base(archive), func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t)
			dir := filepath.Dir(e.StateDir)
			require.NoError(t, exec.Command("tar", "-xzf", archive, "-C", dir).Run())
			repository := filepath.Join(dir, "kept")
			s := e.start("up", repository, "--cluster", "none")
			s.await("the application of before is there", func(ev event) bool {
				return ev.is("application", "name", "script", "sync", "SYNCED")
			})
			deployments := e.list("deployments")
			require.Len(t, deployments, 1, "nothing is deployed again")
			require.Equal(t, "script", deployments[0]["app"])
			require.Contains(t, deployments[0]["status"], "SUCCESS")

			require.NoError(t, os.WriteFile(filepath.Join(repository, "script", "more"), []byte("x"), 0o600))
			gittest.Run(t, repository, "add", ".")
			gittest.Run(t, repository, "commit", "-q", "-m", "more")
			s.await("it goes on", func(ev event) bool {
				return ev.is("deployment", "app", "script", "status", "SUCCESS") &&
					ev["id"] != deployments[0]["id"]
			})
			s.interrupt()
			s.wait()
		})
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestAFailureOfTheBaseIsNotShownAsOneOfTheChange(t *testing.T) {
	t.Parallel()
	base := strings.Repeat("2", 40)
	broken := failed("deployment.yaml:1: no image", nil)
	broken.Commit = &deckv1.Commit{Hash: base}
	f := facts(t, broken, broken, nil)
	f.Base, f.BaseFailed, f.Touched = base, true, map[string]bool{f.Checked[0].File: true}
	f.Checked = []*workspace.Checked{f.Checked[0], f.Checked[2]}
	f.Removed = []Application{{Name: "app-1", File: "app-1/app.pipecd.yaml"}}
	run := Build(f)
	run.ExitCode, run.Reason = 1, "base 2222222 failed, so HEAD was not deployed: app-0: FAILURE"
	require.Len(t, run.Applications, 3)
	for i, result := range []Result{Failure, Failure, Unfinished} {
		require.Equal(t, result, run.Applications[i].Result)
	}
	require.True(t, run.Applications[0].Touched)
	require.Equal(t, "at the base 2222222: Stage K8S_SYNC failed: deployment.yaml:1: no image",
		Why(&run.Applications[0]))
	var b strings.Builder
	require.NoError(t, Annotations(&b, run, ""))
	require.Equal(t, "::error title=pipedeck ci::"+run.Reason+"\n", b.String(), "no line of HEAD is the cause")
	require.Contains(t, string(Markdown(run)), "exit code 1 after 1m0s: base 2222222 failed, so HEAD was not deployed")
	data, err := JSON(run)
	require.NoError(t, err)
	require.Contains(t, string(data), `"base_failed": true`)
}

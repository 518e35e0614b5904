// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build python

package guide

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

func TestThePluginInPythonDeploysAndPassesTheTestKit(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	printed := r.follow(t, sections(t, func(name string) bool { return name == otherLanguage }))
	deployed := ""
	for command, output := range printed {
		if strings.Contains(command, "pipedeck ci") {
			deployed = output
		}
	}
	for _, line := range []string{"COUNT", " 4\n"} {
		require.Contains(t, deployed, line)
	}

	program := filepath.Join(r.dir, "..", "count.pyz")
	h := wiretest.StartProgram(t, program, wiretest.Options{Name: "count"})
	checkPlanning(t, h)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, "COUNT", `{"to": 2}`))
	require.Equal(t, "1\n2\n", h.Piped.Log("count"))
	require.True(t, h.Piped.Completed("count"))
	require.Len(t, h.Piped.Blocks("count", true), 2, "what a control plane keeps")
	require.Equal(t, map[string]string{"done": "2", sdk.DisplayMetadataKey: "at 2"}, h.Piped.StageMetadata("count"))
	require.NoError(t, h.Stop())

	h = wiretest.StartProgram(t, program, wiretest.Options{Name: "count", Piped: h.Piped})
	ctx, cancel := context.WithCancel(t.Context())
	ended := h.Go(ctx, t, "COUNT", `{"to": 9, "pause": 3600}`)
	h.Piped.WaitLog(t, "count", "3\n")
	cancel()
	<-ended
	h.Piped.WaitLog(t, "count", "stopped")
	require.Equal(t, "1\n2\n3\nstopped\n", h.Piped.Log("count"),
		"it went on after the restart, and stopped at the cancel")
}

func TestANewPluginInPythonIsTestedAndDeploys(t *testing.T) {
	t.Parallel()
	printed := newPythonReader(t).follow(t, sections(t, func(name string) bool { return name == inPython }))
	checkLoop(t, printed)
	const packed = "pipedeck plugin test counter.pyz --config piped-plugin.yaml --with "
	require.Contains(t, printed[packed+`'{"steps": ["one", "two"]}'`], "> All 2 steps are done")
}

// newPythonReader returns a reader whose Python is that of Debian, whatever else is in the PATH.
func newPythonReader(t *testing.T) *reader {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Symlink("/usr/bin/python3", filepath.Join(dir, "python3")))
	r := newReader(t)
	for i, variable := range r.variables {
		if path, found := strings.CutPrefix(variable, "PATH="); found {
			r.variables[i] = "PATH=" + dir + string(filepath.ListSeparator) + path
		}
	}
	return r
}

// checkLoop checks what a new plugin of the guide has printed.
func checkLoop(t *testing.T, printed map[string]string) {
	t.Helper()
	all := ""
	for _, said := range printed {
		all += said
	}
	for _, says := range []string{
		"with the stage COUNTER", "> All 2 steps are done", " 0 failed", "0 errors, 0 warnings", // new and test
		"> All 3 steps are counted", "1 application: 1 SUCCESS", // new code
	} {
		require.Contains(t, all, says)
	}
}

func TestNewPluginsInPythonOfEveryKindDeploy(t *testing.T) {
	t.Parallel()
	deployEachKind(t, newPythonReader(t), "python", "make test")
}

func checkPlanning(t *testing.T, h *wiretest.Harness) {
	t.Helper()
	defined, err := h.Deployment.FetchDefinedStages(t.Context(), &deployment.FetchDefinedStagesRequest{})
	require.NoError(t, err)
	require.Equal(t, []string{"COUNT"}, defined.GetStages())
	stages, err := h.Plan(t.Context(), sdk.StageConfig{Name: "COUNT", Desc: "to three"}, sdk.StageConfig{Name: "COUNT"})
	require.NoError(t, err)
	require.Len(t, stages, 2)
	require.Equal(t, "to three", stages[0].GetDesc())
	require.EqualValues(t, 1, stages[1].GetIndex())
	require.Positive(t, stages[1].GetCreatedAt())
	quick, err := h.Deployment.BuildQuickSyncStages(t.Context(),
		&deployment.BuildQuickSyncStagesRequest{Rollback: true})
	require.NoError(t, err)
	require.Empty(t, quick.GetStages())
	strategy, err := h.Deployment.DetermineStrategy(t.Context(), &deployment.DetermineStrategyRequest{
		Input: &deployment.PlanPluginInput{Deployment: h.Request("COUNT", "{}").GetInput().GetDeployment()},
	})
	require.NoError(t, err)
	require.True(t, strategy.GetUnsupported())
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build python

package guide

import (
	"context"
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
	r := newReader(t)
	require.Contains(t, r.run(t, "pipedeck plugin new counter --lang python\ncd counter"), "with the stage COUNTER")
	// That of Debian, whatever else is in the PATH.
	r.run(t, "sed 's#python3#/usr/bin/python3#' piped-plugin.yaml > changed\nmv changed piped-plugin.yaml\n"+
		"make PYTHON=/usr/bin/python3 INTERPRETER=/usr/bin/python3")
	for _, plugin := range []string{".", "counter.pyz --config piped-plugin.yaml"} {
		tested := r.run(t, "pipedeck plugin test "+plugin+` --with '{"steps": ["one", "two"]}'`)
		require.Contains(t, tested, "> All 2 steps are done")
	}
	require.Contains(t, r.run(t, "pipedeck validate example --plugin counter=."), "0 errors, 0 warnings")
	r.run(t, "git init -q -b main\ngit add .\ngit commit -q -m Begin")
	deployed := r.run(t, "pipedeck ci . --cluster none --plugin counter=. --timeout 3m")
	require.Contains(t, deployed, "> All 3 steps are done")
	require.Contains(t, deployed, "1 application: 1 SUCCESS")
}

func TestNewPluginsInPythonOfEveryKindDeploy(t *testing.T) {
	t.Parallel()
	deployEachKind(t, newReader(t), "python", "sed 's#python3#/usr/bin/python3#' piped-plugin.yaml > changed\n"+
		"mv changed piped-plugin.yaml\nmake test PYTHON=/usr/bin/python3")
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

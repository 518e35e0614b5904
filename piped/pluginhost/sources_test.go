// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/system/buildtest"
)

const (
	allSources  = deployment.SourceUse_SOURCE_USE_UNSPECIFIED
	targetAlone = deployment.SourceUse_SOURCE_USE_TARGET
	noSources   = deployment.SourceUse_SOURCE_USE_NONE
)

func TestPluginsReportWhichSourcesTheyRead(t *testing.T) {
	t.Parallel()
	described := map[string]string{}
	var mu sync.Mutex
	host := start(t, func(o *pluginhost.Options) {
		o.Observer.Described = func(plugin string, schema []byte) {
			mu.Lock()
			defer mu.Unlock()
			described[plugin] = string(schema)
		}
	},
		config.Plugin{Name: "wait", URL: "file://" + buildtest.Program(t, "../../plugins/wait")},
		config.Plugin{Name: "scriptrun", URL: "file://" + buildtest.Program(t, "../../plugins/scriptrun")},
		entry(t, "silent", settings{"stages": []string{"SILENT"}}),
	)
	settle(t, host)
	mu.Lock()
	shipped, err := os.ReadFile("../../plugins/wait/schema.json")
	require.NoError(t, err)
	require.Equal(t, string(shipped), described["wait"])
	require.Contains(t, described["scriptrun"], "SCRIPT_RUN")
	require.Empty(t, described["silent"], "it ships none")
	require.Len(t, described, 3)
	mu.Unlock()
	for stage, use := range map[string]deployment.SourceUse{
		"WAIT": noSources, "SCRIPT_RUN": targetAlone, "SILENT": allSources, "NOBODYS": allSources,
	} {
		require.Equal(t, use, host.StageSources(stage), stage)
	}
	for stage, use := range map[string]deployment.SourceUse{"WAIT": noSources, "SILENT": allSources} {
		p, err := host.Owner(t.Context(), stage)
		require.NoError(t, err)
		require.Equal(t, use, p.PlanningSources(), stage)
	}
}

func TestAStageIsNotExecutedWithoutSourcesThatANewProcessReads(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "marker")
	require.NoError(t, os.WriteFile(marker, nil, 0o600))
	e, replace := replaceable(t, settings{"stages": []string{"A"}, "noSources": marker})
	host := start(t, nil, e)
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	use := host.StageSources("A")
	require.Equal(t, noSources, use)
	call := func() error {
		_, err := p.Deployment().
			ExecuteStage(t.Context(), &deployment.ExecuteStageRequest{Input: &deployment.ExecutePluginInput{
				Deployment: &model.Deployment{}, Stage: &model.PipelineStage{}, StageConfig: []byte("{}"),
			}}, pluginhost.Prepared("A", use))
		return err
	}
	require.NoError(t, call())

	require.NoError(t, os.Remove(marker)) // the next process inspects all
	old := host.Status()[0].GetPid()
	replace("new")
	await(
		t, host,
		func(s *agentv1.Plugin) bool { return s.GetPid() != old && s.GetState() == agentv1.Plugin_STATE_RUNNING },
	)
	var changed *pluginhost.SourcesChangedError
	require.ErrorAs(t, call(), &changed)
	require.Equal(t, "A", changed.Stage)
	use = host.StageSources("A")
	require.Equal(t, allSources, use)
	require.NoError(t, call())
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"testing"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestPluginsReportWhichDirectoriesTheyRead(t *testing.T) {
	t.Parallel()
	stages := func() []string { return []string{"A", "B", "C"} }
	uses := map[string]Sources{"A": NoSources, "B": TargetSource, "C": AllSources}
	for name, c := range map[string]struct {
		handlers handlers
		want     *deployment.GetSourceUseResponse
	}{
		"stages alone are planned without": {
			handlers{stages: stages, sources: func(stage string) Sources { return uses[stage] }},
			&deployment.GetSourceUseResponse{
				Planning: deployment.SourceUse_SOURCE_USE_NONE,
				Stages: map[string]deployment.SourceUse{
					"A": deployment.SourceUse_SOURCE_USE_NONE, "B": deployment.SourceUse_SOURCE_USE_TARGET,
				},
			},
		},
		"a stage that runs once": {
			handlers{stages: stages, plans: true, sources: func(string) Sources { return AllSources },
				once: func(stage string) bool { return stage == "B" }},
			&deployment.GetSourceUseResponse{Once: []string{"B"}},
		},
		"all of them by default": {
			handlers{stages: stages, plans: true, sources: func(string) Sources { return AllSources }},
			&deployment.GetSourceUseResponse{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := &sourceUseService{handlers: &c.handlers}
			got, err := service.GetSourceUse(t.Context(), &deployment.GetSourceUseRequest{})
			require.NoError(t, err)
			require.Equal(t, c.want.GetPlanning(), got.GetPlanning())
			require.Equal(t, c.want.GetOnce(), got.GetOnce())
			require.Len(t, got.GetStages(), len(c.want.GetStages()))
			for stage, use := range c.want.GetStages() {
				require.Equal(t, use, got.GetStages()[stage])
			}
		})
	}
}

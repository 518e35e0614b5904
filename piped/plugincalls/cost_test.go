// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugincalls

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/piped/secrets"
)

// BenchmarkCall is what remembering one call costs, with 50 secrets to mask: docs/performance.md has the figures.
func BenchmarkCall(b *testing.B) {
	masker := secrets.NewMasker()
	for i := range 50 {
		require.NoError(b, masker.Add(strings.Repeat(string(rune('a'+i%26)), 12+i)))
	}
	stage := request("s1")
	configuration := strings.Repeat("  key: some value of a configuration\n", 110)
	stage.Input.TargetDeploymentSource.ApplicationConfig = []byte(configuration)
	report := &pluginservice.ReportStageLogsRequest{DeploymentId: "d1", StageId: "s1",
		Blocks: []*model.LogBlock{{Log: "Waiting for 4 pods of checkout-6f7c9, at most 5m", CreatedAt: 1}}}
	long := &pluginservice.ReportStageLogsRequest{DeploymentId: "d1", StageId: "s1"}
	for range 4000 {
		long.Blocks = append(long.Blocks, report.Blocks[0])
	}
	b.Run("a stage with 4 KiB of configuration", func(b *testing.B) {
		l := New(Options{Plugins: 4, Mask: masker.Mask})
		for b.Loop() {
			call(l, "wait", deployment.DeploymentService_ExecuteStage_FullMethodName, stage, nil, nil)
		}
	})
	for name, request := range map[string]*pluginservice.ReportStageLogsRequest{
		"a line of a log": report, "4000 lines of a log": long,
	} {
		b.Run(name, func(b *testing.B) {
			l := New(Options{Plugins: 4, Mask: masker.Mask})
			for b.Loop() {
				back(l, "wait", pluginservice.PluginService_ReportStageLogs_FullMethodName, request,
					&pluginservice.ReportStageLogsResponse{}, nil)
			}
		})
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

// The commit's message is "change things"; it changes docs/a.md and docs/b.md.
func TestSkipOn(t *testing.T) {
	t.Parallel()
	const skipped, run = model.StageStatus_STAGE_SKIPPED, model.StageStatus_STAGE_SUCCESS
	for name, c := range map[string]struct {
		rule   string
		first  bool
		want   model.StageStatus
		reason string
	}{
		"a prefix of the message": {
			"commitMessagePrefixes: [fix, change]", false, skipped,
			`Skipped because the commit message starts with "change"`,
		},
		"a prefix on a first deployment": {
			"commitMessagePrefixes: [change]", true, skipped, `Skipped because the commit message starts with "change"`,
		},
		"a word within the message": {"commitMessagePrefixes: [things]", false, run, ""},
		"all files match": {
			`paths: ["**/a.md", docs/b.md]`, false, skipped, "Skipped because all changed files match skipOn.paths",
		},
		"one file does not match":     {"paths: [docs/a.md]", false, run, ""},
		"an exclusion":                {`paths: [docs, "!docs/b.md"]`, false, run, ""},
		"paths on a first deployment": {"paths: [docs]", true, run, ""},
		"paths do not match but the message does so": {
			"paths: [src], commitMessagePrefixes: [change]", false, skipped,
			`Skipped because the commit message starts with "change"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cp := startControlPlane(t)
			if !c.first {
				cp.success["app"] = &model.ApplicationDeploymentReference{
					DeploymentId: "before", StartedAt: 1,
					Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: "old"}, Timestamp: 1},
				}
			}
			a := startAgentAt(t, cp, pipeline("skipOn: {"+c.rule+"}", "with: {}"))
			a.Submit(newDeployment("d", "app"))
			require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, cp.awaitEnd(t, "d").GetStatus())
			require.Equal(t, c.want, cp.report("A").GetStatus())
			require.Equal(t, c.reason, cp.report("A").GetStatusReason())
			require.Equal(t, run, cp.report("B").GetStatus(), "the next stage starts")
		})
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
)

// Every call that pipectl made, with what piped did in between, gives the codes that PipeCD gave.
func TestTheRecordedPipectlCommandsGiveTheSameCodes(t *testing.T) {
	t.Parallel()
	recordedAt := time.Unix(1795230300, 0)
	p := start(t, func(c *controlplane.Config) { c.Now = func() time.Time { return recordedAt } })
	r := newReplayer(t)
	r.play(p.pipedConn, recording(t, "a0")[:1], nil)
	plans := recording(t, "a6")
	r.play(p.userConn, recording(t, "d1"), func(seq int) {
		switch seq {
		case 27:
			r.play(p.pipedConn, recording(t, "a1"), nil)
		case 35:
			_, err := p.piped.ReportCommandHandled(testContext(t), &pipedservice.ReportCommandHandledRequest{
				CommandId: r.ids[id("120")], Status: model.CommandStatus_COMMAND_SUCCEEDED, HandledAt: 1795230153,
				Metadata: map[string]string{"TriggeredDeploymentID": id("6")},
			})
			require.NoError(t, err)
			c, err := p.api.GetCommand(testContext(t), &apiservice.GetCommandRequest{CommandId: r.ids[id("120")]})
			require.NoError(t, err)
			require.Equal(t, keyID, c.GetCommand().GetCommander())
			require.Equal(t, id("6"), c.GetCommand().GetMetadata()["TriggeredDeploymentID"])
		case 36:
			r.play(p.pipedConn, recording(t, "a1b"), nil)
		case 42:
			r.play(p.pipedConn, plans[:1], nil)
		case 44:
			r.play(p.pipedConn, plans[1:], nil)
			results, err := p.api.GetPlanPreviewResults(testContext(t), &apiservice.GetPlanPreviewResultsRequest{Commands: []string{r.ids[id("93")]}})
			require.NoError(t, err)
			require.Len(t, results.GetResults(), 1)
			require.Equal(t, "p1", results.GetResults()[0].GetPipedName())
			require.NotEmpty(t, results.GetResults()[0].GetResults()[0].GetPluginPlanResults()[0].GetPlanDetails())
		}
	})
	apps, err := p.api.ListApplications(testContext(t), &apiservice.ListApplicationsRequest{Limit: 100})
	require.NoError(t, err)
	require.Len(t, apps.GetApplications(), 14, "15 were added, one of them deleted")
	got, err := p.api.GetApplication(testContext(t), &apiservice.GetApplicationRequest{ApplicationId: r.ids[id("40")]})
	require.NoError(t, err)
	require.Equal(t, "file:///srv/pipe/run/R/repo/tree/main/sk", got.GetApplication().GetGitPath().GetUrl())
}

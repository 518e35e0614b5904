// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/theme"
)

func TestADeploymentSaysWhichBlockOfWhichChainItIs(t *testing.T) {
	t.Parallel()
	d := &deckv1.Deployment{Strategy: "PIPELINE", Commander: "3f2b9a52-7c0f-4e0b-9d39-5d2f0f2c8b11"}
	draw := func() string {
		return strings.Join(Deployment{Theme: theme.Theme{}, Deployment: d, Now: time.Unix(1, 0)}.head(80), "\n")
	}
	require.Contains(t, draw(), "asked for by 3f2b9a52-7c0f")
	d.ChainId, d.ChainBlock = d.Commander, 2
	require.Contains(t, draw(), "block 2 of chain 3f2b9a52")
	require.NotContains(t, draw(), "asked for by")
}

func TestADeploymentOfAnEarlierCommitSaysOnceWhoAskedForIt(t *testing.T) {
	t.Parallel()
	th := theme.Theme{}
	th.Dot = "|"
	const retry = "Retried by grace, with the strategy of deployment d"
	for name, c := range map[string]struct {
		d    *deckv1.Deployment
		want string
	}{
		"a retry":    {&deckv1.Deployment{RetryOf: "d", Summary: "why"}, "PIPELINE | retried by grace | why"},
		"a rollback": {&deckv1.Deployment{RollbackTo: "d", Summary: "why"}, "PIPELINE | rolled back by grace | why"},
		"said once":  {&deckv1.Deployment{RetryOf: "d", Summary: retry}, "PIPELINE | " + retry},
		"a sync":     {&deckv1.Deployment{Summary: "it changed"}, "PIPELINE | it changed | asked for by grace"},
	} {
		c.d.Strategy, c.d.Commander = "PIPELINE", "grace"
		lines := Deployment{Theme: th, Deployment: c.d, Now: time.Unix(1, 0)}.head(90)
		require.Equal(t, c.want, strings.TrimSpace(lines[1]), name)
	}
}

func TestWhatIsWrongWithAConfigurationIsShownOnce(t *testing.T) {
	t.Parallel()
	const reason = "web/app.pipecd.yaml:5:12: spec.timeout: want a duration"
	problem := &deckv1.Problem{Reason: reason}
	invalid := &deckv1.Application{Sync: deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG, SyncReason: reason}
	outOfSync := &deckv1.Application{Sync: deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC}
	done := &deckv1.Deployment{Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS}
	failed := &deckv1.Deployment{Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, StatusReason: "a crash"}
	unplanned := proto.CloneOf(failed)
	unplanned.StatusReason = "Planning failed: " + reason
	for name, v := range map[string]Deployment{
		"before a deployment that succeeded":       {Application: invalid, Deployment: done, Problem: problem},
		"before a deployment that failed":          {Application: invalid, Deployment: failed, Problem: problem},
		"the deployment failed after it":           {Application: outOfSync, Deployment: failed, Problem: problem},
		"the deployment failed by it":              {Application: invalid, Deployment: unplanned, Problem: problem},
		"the application is deployed all the same": {Application: outOfSync, Deployment: done, Problem: problem},
	} {
		v.Theme, v.Now = theme.New(theme.Options{NoColor: true}), time.Unix(1, 0)
		require.Equal(t, 1, strings.Count(strings.Join(v.head(120), "\n"), reason), name)
	}
}

func TestTheHeadShowsWhereTheApplicationAnswers(t *testing.T) {
	t.Parallel()
	const url = "http://127.0.0.1:13579"
	v := Deployment{Theme: theme.Theme{}, Application: &deckv1.Application{Url: url}, Now: time.Unix(1, 0),
		Deployment: &deckv1.Deployment{Strategy: "QUICK_SYNC", Summary: "why"}}
	require.Regexp(t, `^ QUICK_SYNC .*why +`+url+` $`, v.head(80)[1])
	require.NotContains(t, v.head(50)[1], url, "the reason is worth more where there is little room")
	v.Application.Url = ""
	require.NotContains(t, v.head(80)[1], "http")
}

func TestTheNewestDeploymentSaysWhyItsApplicationIsUnhealthy(t *testing.T) {
	t.Parallel()
	d := decktest.Failed()
	d.Status, d.StatusReason = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, ""
	app := &deckv1.Application{Name: "web", Health: deckv1.HealthStatus_HEALTH_STATUS_OTHER,
		HealthReason: "PersistentVolumeClaim shop/data is pending since 2026-01-01T00:00:00Z: " +
			"ProvisioningFailed: no disk"}
	shown := func(v Deployment) string {
		v.Theme, v.Application, v.Deployment = theme.New(theme.Options{NoColor: true}), app, d
		return strings.Join(strings.Fields(ansi.Strip(v.Draw(130, 30))), " ")
	}
	const why = "unhealthy: PersistentVolumeClaim shop/data is pending since 2026-01-01T00:00:00Z: " +
		"ProvisioningFailed: no disk"
	require.Contains(t, shown(Deployment{}), why)
	require.NotContains(t, shown(Deployment{Earlier: true}), "unhealthy")
	app.Health = deckv1.HealthStatus_HEALTH_STATUS_HEALTHY
	require.NotContains(t, shown(Deployment{}), "unhealthy")
}

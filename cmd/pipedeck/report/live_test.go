// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// live changes what is known of what runs of app-0.
func (f *Facts) live(change func(*deckv1.Application)) {
	app := f.Deck.Application("app-0")
	change(app)
	for _, event := range decktest.Events(app) {
		f.Deck.Apply(event)
	}
}

func unhealthy(app *deckv1.Application) {
	app.Health, app.HealthReason = deckv1.HealthStatus_HEALTH_STATUS_OTHER, "Pod shop/web: it has failed"
}

func TestAnApplicationThatIsDeployedAndNotHealthyFailsTheRun(t *testing.T) {
	t.Parallel()
	f := facts(t, succeeded(), succeeded())
	f.live(unhealthy)
	run := Build(f)
	require.Equal(t, []Result{Unhealthy, Success}, []Result{run.Applications[0].Result, run.Applications[1].Result})
	require.Len(t, run.Failed(), 1)
	require.False(t, run.DeploysNothing())
	run.ExitCode = 1
	const why = "deployed, but UNHEALTHY: Pod shop/web: it has failed"
	var table, annotations strings.Builder
	require.NoError(t, Table(&table, run, 120))
	require.Contains(t, table.String(), why)
	require.NoError(t, Annotations(&annotations, run, run.Repository))
	require.Equal(t, "::error file=app-0/app.pipecd.yaml,title=app-0%3A UNHEALTHY::"+why+"\n", annotations.String())
	xml, err := JUnit(run)
	require.NoError(t, err)
	require.Contains(t, string(xml), `<failure message="`+why+`" type="UNHEALTHY">`)
	require.Contains(t, string(Markdown(run)),
		"| app-0 | UNHEALTHY | QUICK\\_SYNC | 13s | deployed, but UNHEALTHY: Pod")

	f.AllowUnhealthy = true
	run = Build(f)
	require.Empty(t, run.Failed())
	annotations.Reset()
	require.NoError(t, Annotations(&annotations, run, run.Repository))
	require.True(t, strings.HasPrefix(annotations.String(), "::warning file=app-0/app.pipecd.yaml"))
}

func TestAnApplicationThatIsDeployedAndNotAsInGitHasAWarning(t *testing.T) {
	t.Parallel()
	f := facts(t, succeeded())
	f.live(func(app *deckv1.Application) {
		app.Sync, app.SyncShortReason = deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC, "ConfigMap a differs"
	})
	run := Build(f)
	require.Empty(t, run.Failed())
	const why = "deployed, but OUT_OF_SYNC: ConfigMap a differs"
	a := run.Applications[0]
	require.Equal(t, []any{Success, why, "OUT_OF_SYNC", "UNSPECIFIED"}, []any{a.Result, a.Reason, a.Sync, a.Health})
	require.Equal(t, []Warning{{Text: why}}, a.Warnings)
	xml, err := JUnit(run)
	require.NoError(t, err)
	require.Contains(t, string(xml), "warning: "+why)
}

func TestASecretOfAnotherKeyNamesTheFlagThatGivesTheKey(t *testing.T) {
	t.Parallel()
	run := Build(facts(t, failed("was it encrypted for another piped? Then encrypt it for this piped with pipedeck "+
		"encrypt --name ci-1 --state-dir /tmp/x; see the logs", &deckv1.Cause{Kind: string(ForeignKey)})))
	require.Equal(t, "Stage K8S_SYNC failed: was it encrypted for another piped? Then give the run that key with "+
		"--piped-config; see the logs", run.Applications[0].Reason)
}

func TestWhatTheCommitsDoNotTouchMayBeUnhealthyWithAWarning(t *testing.T) {
	t.Parallel()
	before := succeeded()
	before.Commit = &deckv1.Commit{Hash: "2222222222222222222222222222222222222222"}
	f := facts(t, before)
	f.Base, f.Touched = before.GetCommit().GetHash(), map[string]bool{}
	f.live(unhealthy)
	run := Build(f)
	require.Empty(t, run.Failed())
	a := run.Applications[0]
	require.Equal(t, Unchanged, a.Result)
	require.Equal(t, "the base deployed it, and the commits do not touch it; UNHEALTHY: Pod shop/web: it has failed",
		a.Reason)
}

func TestWhatIsNotKnownOfTheLiveStateIsNoFailure(t *testing.T) {
	t.Parallel()
	f := facts(t, succeeded(), failed("x", nil))
	f.live(func(app *deckv1.Application) { app.Health = deckv1.HealthStatus_HEALTH_STATUS_UNKNOWN })
	run := Build(f)
	require.Equal(t, []Result{Failure, Success}, []Result{run.Applications[0].Result, run.Applications[1].Result})
	require.Empty(t, run.Applications[1].Reason)
}

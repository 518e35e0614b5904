// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package insights_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/insights"
)

var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// at makes a deployment of an application whose commit is as many minutes old at its end.
func at(app string, minute, lead int, outcome insights.Outcome) insights.Deployment {
	end := start.Add(time.Duration(minute) * time.Minute)
	return insights.Deployment{
		ApplicationID: app, ApplicationName: app, Outcome: outcome, Created: end.Add(-time.Minute), Ended: end,
		Commit: fmt.Sprint(app, minute), Committed: end.Add(-time.Duration(lead) * time.Minute),
	}
}

// figures are an insight in a line.
func figures(i *deckv1.Insight) string {
	duration := func(n uint32, d time.Duration) string {
		if n == 0 {
			return "none"
		}
		return fmt.Sprintf("%s of %d", d, n)
	}
	return fmt.Sprintf("%d+%d-%d, %.2f a day, lead %s, restore %s, failing %d", i.GetSucceeded(), i.GetFailed(),
		i.GetCancelled(), i.GetDeploymentsADay(), duration(i.GetLeadTimes(), i.GetLeadTime().AsDuration()),
		duration(i.GetRestoreTimes(), i.GetRestoreTime().AsDuration()), i.GetFailing())
}

func TestFigures(t *testing.T) {
	t.Parallel()
	const ok, failed, cancelled = insights.Succeeded, insights.Failed, insights.Cancelled
	same := func(d insights.Deployment, commit string) insights.Deployment { d.Commit = commit; return d }
	for name, c := range map[string]struct {
		history []insights.Deployment
		want    string
	}{
		"nothing was deployed": {nil, "0+0-0, 0.00 a day, lead none, restore none, failing 0"},
		"one deployment has no rate": {[]insights.Deployment{at("a", 0, 5, ok)},
			"1+0-0, 0.00 a day, lead 5m0s of 1, restore none, failing 0"},
		"two deployments in a day": {[]insights.Deployment{at("a", 1, 5, ok), at("a", 2, 9, ok)},
			"2+0-0, 2.00 a day, lead 7m0s of 2, restore none, failing 0"},
		"a median is not moved by one": {
			[]insights.Deployment{at("a", 1, 5, ok), at("a", 2, 6, ok), at("a", 3, 600, ok)},
			"3+0-0, 3.00 a day, lead 6m0s of 3, restore none, failing 0"},
		"a failure that is not restored": {[]insights.Deployment{at("a", 1, 5, ok), at("a", 2, 5, failed)},
			"1+1-0, 0.00 a day, lead 5m0s of 1, restore none, failing 1"},
		"failures in a row count once": {
			[]insights.Deployment{at("a", 1, 5, failed), at("a", 2, 5, failed), at("a", 31, 5, ok)},
			"1+2-0, 0.00 a day, lead 5m0s of 1, restore 30m0s of 1, failing 0"},
		"another application does not restore": {[]insights.Deployment{at("a", 1, 5, failed), at("b", 2, 5, ok)},
			"1+1-0, 0.00 a day, lead 5m0s of 1, restore none, failing 1"},
		"a cancelled one is counted apart": {
			[]insights.Deployment{at("a", 1, 5, failed), at("a", 2, 5, cancelled), at("a", 4, 5, ok)},
			"1+1-1, 0.00 a day, lead 5m0s of 1, restore 3m0s of 1, failing 0"},
		"a commit has one lead time": {
			[]insights.Deployment{same(at("a", 1, 5, ok), "c"), same(at("a", 60, 64, ok), "c")},
			"2+0-0, 2.00 a day, lead 5m0s of 1, restore none, failing 0"},
		"a first deployment has no lead time": {[]insights.Deployment{func() insights.Deployment {
			d := at("a", 1, 90000, ok)
			d.First = true
			return d
		}()}, "1+0-0, 0.00 a day, lead none, restore none, failing 0"},
		"a rollback restores and has no lead time": {
			[]insights.Deployment{at("a", 1, 5, failed), func() insights.Deployment {
				d := at("a", 11, 90000, ok)
				d.Again = true
				return d
			}()}, "1+1-0, 0.00 a day, lead none, restore 10m0s of 1, failing 0"},
		"the order of the history does not matter": {[]insights.Deployment{at("a", 31, 5, ok), at("a", 1, 5, failed)},
			"1+1-0, 0.00 a day, lead 5m0s of 1, restore 30m0s of 1, failing 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := start.Add(24 * time.Hour)
			report := insights.Measure(c.history, now)
			require.Equal(t, c.want, figures(report.GetAll()))
			require.True(t, report.GetTo().AsTime().Equal(now))
			require.Equal(t, len(c.history) > 0, report.GetFrom().IsValid())
		})
	}
}

func TestEachApplicationHasItsOwnFiguresByName(t *testing.T) {
	t.Parallel()
	report := insights.Measure([]insights.Deployment{
		at("web", 1, 4, insights.Succeeded), at("api", 20, 8, insights.Succeeded), at("web", 1439, 6, insights.Failed),
	}, start.Add(24*time.Hour))
	require.Len(t, report.GetApplications(), 2)
	api, web := report.GetApplications()[0], report.GetApplications()[1]
	require.Equal(t, "api", api.GetApplicationName())
	require.Equal(t, "1+0-0, 0.00 a day, lead 8m0s of 1, restore none, failing 0", figures(api))
	require.Equal(t, "1+1-0, 0.00 a day, lead 4m0s of 1, restore none, failing 1", figures(web))
	require.Equal(t, "2+1-0, 2.00 a day, lead 6m0s of 2, restore none, failing 1", figures(report.GetAll()))
	require.Equal(t, uint32(1), web.GetSucceededParts()[0])
	require.Equal(t, uint32(1), web.GetFailedParts()[23], "the end of the period")
	require.Equal(t, uint32(2), report.GetAll().GetSucceededParts()[0])
}

func TestAShortPeriodHasNoRate(t *testing.T) {
	t.Parallel()
	history := []insights.Deployment{at("a", 1, 1, insights.Succeeded), at("a", 2, 1, insights.Succeeded)}
	require.Zero(t, insights.Measure(history, start.Add(59*time.Minute)).GetAll().GetDeploymentsADay())
	require.InDelta(t, 48, insights.Measure(history, start.Add(time.Hour)).GetAll().GetDeploymentsADay(), 0.01)
}

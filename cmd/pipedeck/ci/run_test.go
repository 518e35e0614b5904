// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestTheVerdictNamesEveryFailureAndItsReason(t *testing.T) {
	t.Parallel()
	require.NoError(t, verdictOf(verdict{}))
	err := verdictOf(verdict{failed: []*deckv1.Deployment{
		{ApplicationName: "web", Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, StatusReason: "no image"},
		{ApplicationName: "db", Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED, StatusReason: "by ann"},
	}})
	var failure *exit.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, exit.Failed, failure.Code)
	require.ErrorContains(t, err, "no image")
	require.ErrorContains(t, err, "by ann")
	broken := []*deckv1.Application{{Name: "web", SyncReason: "app.pipecd.yaml:3:1"}}
	require.ErrorAs(t, verdictOf(verdict{broken: broken}), &failure)
	require.Equal(t, exit.WrongUsage, failure.Code)
}

// run is a run of a range in which web is awaited at both commits, and what it does.
func run(t *testing.T, applications ...Application) (r *Run, moved *[]string, said *[]string) {
	t.Helper()
	moved, said = &[]string{}, &[]string{}
	r = NewRun(Options{
		Repository: &workspace.Repository{Head: head},
		Range: &Range{Name: "main", Base: &workspace.Repository{Head: base}, Head: head,
			Applications: applications},
		Move:     func(commit string) { *moved = append(*moved, commit) },
		Switched: func(from, to string) { *said = append(*said, from+" "+to) },
		Warn:     func(text string) { *said = append(*said, text) },
	})
	return r, moved, said
}

func TestHEADFollowsTheBaseOnceThatHasSettled(t *testing.T) {
	t.Parallel()
	r, moved, said := run(t,
		Application{File: "web/app.pipecd.yaml", Name: "web", Fate: Touched, AtBase: true, AtHead: true},
		Application{File: "db/app.pipecd.yaml", Name: "db", Fate: Unchanged, Why: "no file of it differs"})
	step := func(objects ...proto.Message) bool { return r.Step(t.Context(), nil, deckOf(objects...)) }
	require.Equal(t, []string{base}, *moved)
	require.Equal(t, base, r.First().Head)
	require.False(t, step(app("web", synced, ""), deployed("web", base, 1, running)))
	left, _ := r.Left()
	require.Equal(t, "base 0123456: web: RUNNING: because", left)
	require.Nil(t, r.Outcome().Head)

	require.False(t, step(app("web", synced, ""), deployed("web", base, 1, succeeded)))
	require.Equal(t, []string{base, head}, *moved)
	require.Equal(t, []string{base + " " + head}, *said)
	left, _ = r.Left()
	require.Equal(t, "HEAD 89abcde: web: not deployed yet", left)
	canary := &deckv1.Stage{Name: "K8S_CANARY_ROLLOUT", Status: deckv1.StageStatus_STAGE_STATUS_FAILURE,
		StatusReason: "no image", StartedAt: decktest.At(2), CompletedAt: decktest.At(3)}
	require.True(t, step(app("web", synced, ""), deployed("web", base, 1, succeeded),
		deployed("web", head, 2, failed, canary)))
	require.EqualError(t, r.Err(), "web: FAILURE: because")

	o := r.Outcome()
	require.Equal(t, base, o.Base.Newest("web").GetCommit().GetHash(), "the state of the base is kept")
	require.Equal(t, head, o.Head.Newest("web").GetCommit().GetHash())
	require.Len(t, o.Unchanged(), 1)
	require.Equal(t, []string{"what ran from base 0123456 to HEAD 89abcde:",
		"web: touched, PIPELINE FAILURE\n  K8S_CANARY_ROLLOUT FAILURE in 1s: no image", "db: unchanged, skipped"},
		o.Summary())
}

func TestAFailureOfTheBaseIsNotOneOfTheChange(t *testing.T) {
	t.Parallel()
	web := Application{File: "web/app.pipecd.yaml", Name: "web", AtBase: true, AtHead: true}
	r, moved, _ := run(t, web)
	require.True(t, r.Step(t.Context(), nil, deckOf(app("web", synced, ""), deployed("web", base, 1, failed))))
	require.Equal(t, []string{base}, *moved)
	var failure *exit.Error
	require.ErrorAs(t, r.Err(), &failure)
	require.Equal(t, exit.Failed, failure.Code)
	require.EqualError(t, failure, "base 0123456 failed, so HEAD was not deployed: web: FAILURE: because")
	require.Empty(t, r.Outcome().Summary())

	r, moved, said := run(t, web)
	require.False(t, r.Step(t.Context(), nil, deckOf(app("web", invalid, "line 3"))), "HEAD may correct it")
	require.Equal(t, []string{base, head}, *moved)
	require.Contains(t, (*said)[0], "web: not deployed at the base, its configuration is not valid there: line 3")
	require.False(t, r.Step(t.Context(), nil, deckOf(app("web", invalid, "line 3"))), "piped has not looked yet")
	require.True(t, r.Step(t.Context(), nil, deckOf(app("web", invalid, "line 5"))))
	require.EqualError(t, r.Err(), "web: line 5")
}

func TestARunWithoutAnythingAtTheBaseBeginsWithHEAD(t *testing.T) {
	t.Parallel()
	r, moved, said := run(t, Application{File: "web/app.pipecd.yaml", Name: "web", Fate: New, AtHead: true})
	require.Equal(t, []string{head}, *moved)
	require.Equal(t, head, r.First().Head)
	require.True(t, r.Step(t.Context(), nil, deckOf(app("web", synced, ""), deployed("web", head, 1, succeeded))))
	require.NoError(t, r.Err())
	require.Empty(t, *said)
	require.Nil(t, r.Outcome().Base)
}

func TestAProblemOfAnApplicationThatHEADRemovesIsExpected(t *testing.T) {
	t.Parallel()
	r, _, _ := run(t, Application{File: "old/app.pipecd.yaml", Name: "old", Fate: Removed},
		Application{File: "web/app.pipecd.yaml", Name: "web", Fate: Unchanged})
	require.True(t, r.Step(t.Context(), nil, deckOf(app("old", invalid, "not in Git"), app("web", synced, ""))))
	require.True(t, r.Expected(&deckv1.Problem{ApplicationId: "old"}))
	require.False(t, r.Expected(&deckv1.Problem{ApplicationId: "web"}))
	require.False(t, r.Expected(&deckv1.Problem{Part: "plugin"}))
}

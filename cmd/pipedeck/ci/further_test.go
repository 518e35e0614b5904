// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestApplicationsOfAllRepositoriesAreAwaited(t *testing.T) {
	t.Parallel()
	application := func(repository, name string) *deckv1.Application {
		a := app(name, synced, "")
		a.Id, a.RepositoryId = repository+name, repository
		return a
	}
	of := func(a *deckv1.Application, commit string, status deckv1.DeploymentStatus) *deckv1.Deployment {
		d := deployed(a.GetName(), commit, 1, status)
		d.Id, d.ApplicationId = a.GetId()+commit, a.GetId()
		return d
	}
	own := &workspace.Repository{Head: head, Applications: []string{"web/app.pipecd.yaml"}}
	second := &workspace.Repository{ID: "second", Head: "0second", Applications: []string{"web/app.pipecd.yaml"}}
	web, other, far := application("local", "web"), application("second", "web"), application("far", "far")
	run := NewRun(Options{Repository: own, Further: []*workspace.Repository{second}})

	require.False(t, run.judge(deckOf(web, of(web, head, succeeded), far, of(far, "0far", succeeded))).settled,
		"one with the same file in another repository is missing")
	require.False(t, run.judge(deckOf(web, of(web, head, succeeded), other)).settled, "it is not deployed yet")
	require.True(t, run.judge(deckOf(web, of(web, head, succeeded), other, of(other, "0second", succeeded))).settled)
	v := run.judge(deckOf(web, of(web, head, succeeded), other, of(other, "0second", failed)))
	require.True(t, v.settled)
	require.Len(t, v.failed, 1)

	for _, byUsers := range []bool{true, false} {
		far.Manual = byUsers
		all := deckOf(web, of(web, head, succeeded), other, of(other, "0second", succeeded), far)
		require.Equal(t, byUsers, run.judge(all).settled, "only users deploy the one of a server")
	}

	require.Equal(t, []string{"web/app.pipecd.yaml", ""}, []string{fileOf(web), fileOf(other)},
		"the same file of another repository is another one")

	// At HEAD of a range, the same; at its base, only the repository of the environment counts.
	run.phase = &phase{commit: head, awaited: []Application{{File: "web/app.pipecd.yaml", Name: "web"}}}
	for _, atHead := range []bool{false, true} {
		run.atHead = atHead
		v = run.judge(deckOf(web, of(web, head, succeeded), other, of(other, "0second", failed)))
		require.True(t, v.settled)
		require.Equal(t, atHead, len(v.failed) == 1)
		require.Equal(t, !atHead, run.judge(deckOf(web, of(web, head, succeeded))).settled)
	}
}

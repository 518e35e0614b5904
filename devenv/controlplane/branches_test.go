// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/system/gittest"
)

func TestTheBranchesOfTheWatchedRepositoryCanBePreviewed(t *testing.T) {
	t.Parallel()
	p := watching(t)
	ctx := testContext(t)
	_, err := p.deck.ListBranches(ctx, &deckv1.ListBranchesRequest{})
	requireCode(t, codes.FailedPrecondition, err)
	require.ErrorContains(t, err, "watches no repository on this machine")

	dir := gittest.Init(t)
	gittest.Write(t, dir, "a.yaml", "a: 1\n")
	gittest.Commit(t, dir, "Begin")
	base := gittest.Run(t, dir, "branch", "--show-current")
	gittest.Run(t, dir, "checkout", "-b", "feature/one")
	gittest.Write(t, dir, "a.yaml", "a: 2\n")
	head := gittest.Commit(t, dir, "Change a\n\nThe body is left out.")
	gittest.Run(t, dir, "update-ref", "refs/remotes/origin/two", "HEAD")
	gittest.Run(t, dir, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/two")
	gittest.Run(t, dir, "tag", "v1")
	p.server.SetEnvironment(&deckv1.Environment{Repository: dir, Branch: base})

	answer, err := p.deck.ListBranches(ctx, &deckv1.ListBranchesRequest{})
	require.NoError(t, err)
	byName := map[string]*deckv1.Branch{}
	for _, b := range answer.GetBranches() {
		byName[b.GetName()] = b
	}
	require.Len(t, byName, 3, "neither the tag nor origin/HEAD: %v", answer)
	require.True(t, byName[base].GetBase())
	require.False(t, byName[base].GetCheckedOut())
	one := byName["feature/one"]
	require.True(t, one.GetCheckedOut())
	require.Equal(t, head, one.GetCommit())
	require.Equal(t, "Change a", one.GetSubject())
	require.True(t, one.GetCommittedAt().IsValid())
	require.Equal(t, head, byName["origin/two"].GetCommit())

	for branch, commit := range map[string]string{"feature/one": head, "origin/two": head} {
		stream, err := p.deck.PreviewBranch(ctx, &deckv1.PreviewBranchRequest{Branch: branch})
		require.NoError(t, err)
		first, err := stream.Recv()
		require.NoError(t, err)
		require.EqualValues(t, 1, first.GetProgress().GetAsked())
		waiting := p.waitingPreviews(t)
		require.Equal(t, commit, waiting[len(waiting)-1].GetBuildPlanPreview().GetHeadCommit())
		require.Equal(t, branch, waiting[len(waiting)-1].GetBuildPlanPreview().GetHeadBranch())
	}
	for _, name := range []string{"nope", ""} {
		stream, err := p.deck.PreviewBranch(ctx, &deckv1.PreviewBranchRequest{Branch: name})
		require.NoError(t, err)
		_, err = stream.Recv()
		requireCode(t, codes.NotFound, err)
		require.ErrorContains(t, err, "there is no branch")
	}
}

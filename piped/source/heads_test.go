// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

func TestTheHeadIsLentUntilNoStageRuns(t *testing.T) {
	t.Parallel()
	commit, open := "a", 0
	heads := NewHeads(func(context.Context, *model.Deployment) (*Source, error) {
		open++
		return &Source{Commit: commit, Closed: func() { open-- }}, nil
	})
	d := &model.Deployment{Id: "d"}
	first, err := heads.Lend(t.Context(), d)
	require.NoError(t, err)
	again, err := heads.Lend(t.Context(), d)
	require.NoError(t, err)
	require.Same(t, first, again)
	commit = "b"
	other, err := heads.Lend(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, "b", other.Commit)
	require.Equal(t, 2, open, "the first one may still be read")
	heads.Return("another")()
	require.Equal(t, 2, open)
	closed := heads.Return("d")
	_, err = heads.Lend(t.Context(), d)
	require.NoError(t, err, "another stage has begun")
	closed()
	require.Equal(t, 1, open)
	heads.Return("d")()
	require.Zero(t, open)
}

func TestADeploymentHasTheHeadAtFewCommits(t *testing.T) {
	t.Parallel()
	commits, open := 0, 0
	heads := NewHeads(func(context.Context, *model.Deployment) (*Source, error) {
		commits++
		open++
		return &Source{Commit: fmt.Sprint(commits), Closed: func() { open-- }}, nil
	})
	for range maxLent {
		_, err := heads.Lend(t.Context(), &model.Deployment{Id: "d"})
		require.NoError(t, err)
	}
	_, err := heads.Lend(t.Context(), &model.Deployment{Id: "d"})
	require.ErrorContains(t, err, "at more than 8 commits")
	require.Equal(t, maxLent, open)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func next(t *testing.T, c *LivestateChanges, after *livestate.AwaitChangesResponse) *livestate.AwaitChangesResponse {
	t.Helper()
	return c.await(t.Context(), &livestate.AwaitChangesRequest{Instance: after.GetInstance(),
		Position: after.GetPosition()})
}

func TestAChangeEndsTheWaitForIt(t *testing.T) {
	t.Parallel()
	c := NewLivestateChanges()
	first := next(t, c, nil)
	require.True(t, first.GetAll(), "whoever asks first knows nothing")

	got := make(chan *livestate.AwaitChangesResponse, 1)
	go func() { got <- next(t, c, first) }()
	c.Mark("web")
	second := <-got
	require.Equal(t, []string{"web"}, second.GetApplicationIds())

	c.Mark("b")
	c.Mark("a")
	c.Mark("b")
	third := next(t, c, second)
	require.Equal(t, []string{"a", "b"}, third.GetApplicationIds(), "once each")
	require.False(t, third.GetAll())
}

func TestAPositionOfAnotherProcessMeansNothing(t *testing.T) {
	t.Parallel()
	c := NewLivestateChanges()
	c.Mark("web")
	answer := next(t, c, &livestate.AwaitChangesResponse{Instance: "another", Position: 1})
	require.True(t, answer.GetAll())
}

func TestTheWaitForAChangeEnds(t *testing.T) {
	t.Parallel()
	c := NewLivestateChanges()
	c.wait = time.Millisecond
	first := next(t, c, nil)
	require.Empty(t, next(t, c, first).GetApplicationIds())

	c.wait = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Empty(t, c.await(ctx, &livestate.AwaitChangesRequest{Instance: first.GetInstance()}).GetApplicationIds())
}

func TestForgottenChangesAreReportedAsAny(t *testing.T) {
	t.Parallel()
	c := NewLivestateChanges()
	first := next(t, c, nil)
	for i := range maxChanged {
		c.Mark(fmt.Sprint(i))
	}
	whole := next(t, c, first)
	require.False(t, whole.GetAll())
	require.Len(t, whole.GetApplicationIds(), maxChanged)
	c.Mark("one more")
	require.Len(t, c.changed, maxChanged)
	require.True(t, next(t, c, first).GetAll())
	require.Equal(t, []string{"one more"}, next(t, c, whole).GetApplicationIds())
}

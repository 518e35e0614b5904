// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func TestEventsAreFoundByNameAndLabelsAndBounded(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{Events: 3})
	labels := map[string]string{"b": "2", "a": "1"}
	register := func(data string) string {
		id, err := s.Events.Register(&model.Event{Name: "n", Data: data, Labels: labels}, nil)
		require.NoError(t, err)
		return id
	}
	oldest := register("1")
	second := register("2")
	_, err := s.Events.Register(&model.Event{Name: "n", Data: "without labels"}, nil)
	require.NoError(t, err)
	latest, err := s.Events.Latest("n", labels)
	require.NoError(t, err)
	require.Equal(t, "2", latest.GetData())
	require.NoError(t, s.Events.ReportStatus(second, model.EventStatus_EVENT_SUCCESS, "done"))
	open, more,
		err := s.Events.List(func(e *model.Event) bool { return e.GetStatus() == model.EventStatus_EVENT_NOT_HANDLED },
		false, "", everything)
	require.NoError(t, err)
	require.False(t, more)
	require.Len(t, open, 2)
	register("4")
	requireCode(t, codes.NotFound, s.Events.ReportStatus(oldest, model.EventStatus_EVENT_SUCCESS, "too late"))
	_, err = s.Events.Latest("n", map[string]string{"a": "1"})
	requireCode(t, codes.NotFound, err)
}

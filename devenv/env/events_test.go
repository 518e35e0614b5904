// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestTheRepositoryShowsWhatBecameOfAnEvent(t *testing.T) {
	t.Parallel()
	var shown string
	e := &Environment{Options: Options{Logger: slog.New(slog.DiscardHandler)}}
	e.components = newComponents(componentNames(&e.Options, nil), func(c *deckv1.Component) {
		if c.GetName() == componentRepository {
			shown = c.GetDetail()
		}
	}, time.Now)
	event := func(status model.EventStatus, description string) *model.Event {
		return &model.Event{Name: "image-update", Status: status, StatusDescription: description}
	}
	e.eventHandled(event(model.EventStatus_EVENT_SUCCESS, "early"))
	require.Empty(t, shown, "no repository is open yet")

	e.repository.Store(&workspace.Repository{Root: "/r", Branch: "main"})
	e.eventHandled(event(model.EventStatus_EVENT_FAILURE, "main is checked out there"))
	require.Equal(t, "/r, branch main; event image-update failed: main is checked out there", shown)
	e.eventHandled(event(model.EventStatus_EVENT_SUCCESS, ""))
	require.Equal(t, "/r, branch main; event image-update succeeded", shown)
	e.eventHandled(event(model.EventStatus_EVENT_NOT_HANDLED, "no rule wants it"))
	require.Equal(t, "/r, branch main; event image-update succeeded", shown)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"fmt"

	"github.com/pipedeck/pipedeck/api/model"
)

// eventHandled shows what the event watcher has done with an event, next to the repository that it changes.
func (e *Environment) eventHandled(event *model.Event) {
	result := map[model.EventStatus]string{
		model.EventStatus_EVENT_SUCCESS: "succeeded", model.EventStatus_EVENT_FAILURE: "failed",
		model.EventStatus_EVENT_OUTDATED: "is outdated",
	}[event.GetStatus()]
	repository := e.repository.Load()
	if result == "" || repository == nil {
		return
	}
	text := fmt.Sprintf("event %s %s", event.GetName(), result)
	if event.GetStatusDescription() != "" {
		text += ": " + event.GetStatusDescription()
	}
	e.Logger.Info("event handled", "event", event.GetName(), "id", event.GetId(), "result", result, "description",
		event.GetStatusDescription())
	detail := fmt.Sprintf("%s, branch %s; %s", repository.Root, repository.Branch, text)
	e.components.describe(componentRepository, detail)
}

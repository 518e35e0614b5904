// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package player

import (
	"maps"
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// stageKey is a stage of a deployment.
type stageKey struct{ deployment, stage string }

// state is what the environment was at one position. Its objects are those of the session and do not change.
type state struct {
	// events has the last event of each object that is there.
	events map[string]*deckv1.Event
	// next gathers the objects that follow a Reset until they are complete; nil otherwise.
	next      map[string]*deckv1.Event
	synced    bool
	stages    map[stageKey]*deckv1.Stage
	logs      map[stageKey]*stageLog
	runs      map[stageKey]*deckv1.GetStageRunResponse
	resources map[string]*resources
	// lost says that the connection to the environment is lost; nil while there is one.
	lost *deckv1.Event
}

// stageLog is what a stage has written.
type stageLog struct {
	blocks    []*deckv1.LogBlock
	truncated bool
}

// resources are those of one application. Once they are shared with a watcher they do not change: the next report makes
// others.
type resources struct {
	byID   map[string]*deckv1.Resource
	shared bool
}

func newState() *state {
	return &state{
		events: map[string]*deckv1.Event{}, stages: map[stageKey]*deckv1.Stage{}, logs: map[stageKey]*stageLog{},
		runs: map[stageKey]*deckv1.GetStageRunResponse{}, resources: map[string]*resources{},
	}
}

// apply takes over one record.
func (s *state) apply(record *deckv1.SessionRecord) {
	switch kind := record.GetKind().(type) {
	case *deckv1.SessionRecord_Event:
		s.event(kind.Event)
	case *deckv1.SessionRecord_StageRun:
		s.runs[stageKey{kind.StageRun.GetDeploymentId(), kind.StageRun.GetStageId()}] = kind.StageRun.GetResponse()
	case *deckv1.SessionRecord_StageLog:
		log := s.log(stageKey{kind.StageLog.GetDeploymentId(), kind.StageLog.GetStageId()})
		log.truncated = log.truncated || kind.StageLog.GetResponse().GetTruncated()
		for _, block := range kind.StageLog.GetResponse().GetBlocks() {
			log.add(block)
		}
	case *deckv1.SessionRecord_Resources:
		s.live(kind.Resources)
	}
}

func (s *state) event(event *deckv1.Event) {
	objects := s.events
	if s.next != nil {
		objects = s.next
	}
	switch kind := event.GetKind().(type) {
	case *deckv1.Event_Log:
		s.log(stageKey{kind.Log.GetDeploymentId(), kind.Log.GetStageId()}).add(kind.Log)
		return
	case *deckv1.Event_Reset_:
		s.next = map[string]*deckv1.Event{}
		return
	case *deckv1.Event_Synced:
		if s.next != nil {
			s.events, s.next = s.next, nil
		}
		s.synced = true
		return
	case *deckv1.Event_Connection:
		if s.lost = event; kind.Connection.GetLost() == "" {
			s.lost = nil
		}
		return
	case *deckv1.Event_Removed:
		remove(objects, kind.Removed)
		delete(s.resources, kind.Removed.GetApplicationId())
		return
	case *deckv1.Event_Deployment:
		for _, stage := range kind.Deployment.GetStages() {
			s.stages[stageKey{kind.Deployment.GetId(), stage.GetId()}] = stage
		}
	}
	if key := keyOf(event); key != "" {
		objects[key] = event
	}
}

// keyOf is the object of an event; the first letter gives the order in which objects are sent. Empty for an event of a
// newer program.
func keyOf(event *deckv1.Event) string {
	switch kind := event.GetKind().(type) {
	case *deckv1.Event_Environment:
		return "a"
	case *deckv1.Event_Component:
		return "b " + kind.Component.GetName()
	case *deckv1.Event_Piped:
		return "c " + kind.Piped.GetId()
	case *deckv1.Event_Application:
		return "d " + kind.Application.GetId()
	case *deckv1.Event_Deployment:
		return "e " + kind.Deployment.GetId()
	case *deckv1.Event_Plugin:
		return pluginKey(kind.Plugin.GetPipedId(), kind.Plugin.GetName())
	case *deckv1.Event_Problem:
		return "g " + kind.Problem.GetId()
	case *deckv1.Event_Caption:
		return "h"
	}
	return ""
}

func pluginKey(piped, name string) string { return "f " + piped + " " + name }

// remove forgets what is gone; an application goes with its deployments.
func remove(objects map[string]*deckv1.Event, gone *deckv1.Removed) {
	delete(objects, pluginKey(gone.GetPipedId(), gone.GetPluginName()))
	delete(objects, "g "+gone.GetProblemId())
	if id := gone.GetApplicationId(); id != "" {
		delete(objects, "d "+id)
		maps.DeleteFunc(objects, func(_ string, e *deckv1.Event) bool {
			return e.GetDeployment() != nil && e.GetDeployment().GetApplicationId() == id
		})
	}
}

// whole is every object that is there.
func (s *state) whole() []*deckv1.Event {
	events := make([]*deckv1.Event, 0, len(s.events)+1)
	for _, key := range slices.Sorted(maps.Keys(s.events)) {
		events = append(events, s.events[key])
	}
	if s.lost != nil {
		events = append(events, s.lost)
	}
	return events
}

// written is what a stage has written so far. It keeps nothing of a stage that has not: watchers may name any.
func (s *state) written(key stageKey) stageLog {
	if log := s.logs[key]; log != nil {
		return *log
	}
	return stageLog{}
}

// log is the log of a stage to write to.
func (s *state) log(key stageKey) *stageLog {
	log := s.logs[key]
	if log == nil {
		log = &stageLog{}
		s.logs[key] = log
	}
	return log
}

// add adds a block unless it is there: after a Reset, those of running stages are sent again.
func (l *stageLog) add(block *deckv1.LogBlock) {
	if n := len(l.blocks); n == 0 || block.GetIndex() > l.blocks[n-1].GetIndex() {
		l.blocks = append(l.blocks, block)
	}
}

func (s *state) live(r *deckv1.SessionResources) {
	now := s.resources[r.GetApplicationId()]
	switch {
	case now == nil || r.GetReset_():
		now = &resources{byID: map[string]*deckv1.Resource{}}
	case now.shared:
		now = &resources{byID: maps.Clone(now.byID)}
	}
	for _, resource := range r.GetResponse().GetResources() {
		now.byID[resource.GetId()] = resource
	}
	for _, id := range r.GetResponse().GetRemoved() {
		delete(now.byID, id)
	}
	s.resources[r.GetApplicationId()] = now
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"slices"
	"strings"
	"unicode/utf8"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// objects are those of a set, as they are now.
func (h *hub) objects(set dirty) State {
	s := State{Synced: h.deck.Synced()}
	if set.environment && h.deck.Environment() != nil {
		s.Environment = newEnvironment(h.deck.Environment())
	}
	for _, id := range sortedKeys(set.applications) {
		if app := h.deck.Application(id); app != nil {
			s.Applications = append(s.Applications, h.application(app))
		}
	}
	for _, id := range sortedKeys(set.deployments) {
		if d := h.deck.Deployment(id); d != nil {
			s.Deployments = append(s.Deployments, newSummary(d, h.deck.Ahead(d)))
		}
	}
	for _, key := range sortedKeys(set.plugins) {
		if p := h.deck.Plugin(key); p != nil {
			s.Plugins = append(s.Plugins, newPlugin(p, h.deck.PluginName(p)))
		}
	}
	for _, name := range sortedKeys(set.components) {
		if c := h.deck.Component(name); c != nil {
			s.Components = append(s.Components, Component{document.NewComponent(c), c.GetOrder()})
		}
	}
	for _, id := range sortedKeys(set.problems) {
		if p := h.deck.Problem(id); p != nil {
			s.Problems = append(s.Problems, document.NewProblem(p, document.ProblemPresent))
		}
	}
	if set.pipeds {
		for _, p := range h.deck.Pipeds() {
			s.Pipeds = append(s.Pipeds, Piped{p.GetId(), p.GetName(), document.Word(p.GetState()), p.GetVersion(),
				p.GetOwn()})
		}
	}
	return s
}

// story is what the page shows of a caption, on one line each.
func story(c *deckv1.Caption) Story {
	shown := Story{Caption: document.NewCaption(c), Application: c.GetFocus().GetApplication()}
	shown.Text, shown.Awaits = text.Line(shown.Text), text.Line(shown.Awaits)
	return shown
}

func newEnvironment(e *deckv1.Environment) *Environment {
	shown := &Environment{
		Name: e.GetName(), Version: e.GetVersion(), Repository: e.GetRepository(), Branch: e.GetBranch(),
		Live: e.GetLive(), ClusterKind: e.GetClusterKind(), Simulated: e.GetSimulated(), LocalPods: e.GetLocalPods(),
		Clusters: []Cluster{}, Breakpoints: []string{},
	}
	if e.GetStartedAt().IsValid() {
		shown.StartedAt = document.Moment(e.GetStartedAt().AsTime())
	}
	for _, c := range e.GetClusters() {
		shown.Clusters = append(shown.Clusters, Cluster{c.GetName(), c.GetKind(), c.GetSimulated(), c.GetLocalPods()})
	}
	for _, b := range e.GetBreakpoints() {
		shown.Breakpoints = append(shown.Breakpoints, state.BreakText(b))
	}
	return shown
}

func (h *hub) application(app *deckv1.Application) Application {
	id := app.GetId()
	return Application{
		Application: document.NewApplication(app, h.deck.ProblemOf(id)), Label: h.deck.ApplicationName(app),
		Failed: state.ApplicationFailed(app, h.deck.Outcome(id)), Present: h.deck.Present(id).GetId(),
	}
}

// maxMessage bounds the message of a commit in bytes; a page shows its beginning.
const maxMessage = 4 << 10

func newSummary(d, ahead *deckv1.Deployment) Summary {
	s := Summary{Deployment: document.NewDeployment(d), At: []string{}}
	s.WaitsFor = ahead.GetId()
	s.CommitMessage = bounded(s.CommitMessage, maxMessage)
	stages := d.GetStages()
	undoes := slices.ContainsFunc(stages, func(s *deckv1.Stage) bool {
		return s.GetRollback() && s.GetStartedAt().IsValid()
	})
	for _, stage := range stages {
		if stage.GetRollback() && !undoes {
			continue
		}
		s.StagesTotal++
		switch status := stage.GetStatus(); {
		case state.StageEnded(status):
			s.StagesEnded++
		case status == deckv1.StageStatus_STAGE_STATUS_RUNNING:
			s.At = append(s.At, state.StageWord(stage))
		}
	}
	s.Waits = len(state.StagesThat(d, func(s *deckv1.Stage) bool { return s.GetCanApprove() || state.Paused(s) })) > 0
	return s
}

// bounded is the beginning of a text, at most so many bytes of whole characters.
func bounded(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	cut := bytes
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// pluginID is a key of a plugin without control characters.
func pluginID(key string) string { return strings.ReplaceAll(key, "\x00", "/") }

func newPlugin(p *deckv1.Plugin, label string) Plugin {
	shown := Plugin{
		Key: pluginID(state.PluginKey(p)), Label: label, Name: p.GetName(), State: document.PluginState(p),
		PID: p.GetPid(), Restarts: p.GetRestarts(), Crashes: p.GetCrashes(), Reloads: p.GetReloads(),
		RSS: p.GetRssBytes(), CPU: p.GetCpuPercent(), Detail: p.GetDetail(), Piped: p.GetPipedId(),
		Stages: document.List(p.GetStages()), Version: p.GetVersion(), Held: p.GetHeld(),
	}
	if p.GetStartedAt().IsValid() {
		shown.StartedAt = document.Moment(p.GetStartedAt().AsTime())
	}
	return shown
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"fmt"
	"slices"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
)

// Kind is what a Change is about.
type Kind int

// The kinds. The field of Change with that name is set.
const (
	Environment Kind = iota + 1
	Component
	Application
	Deployment
	// Stage: its status or attempt changed; Deployment is set too.
	Stage
	// StageWaits: a running stage began to wait for approval; Deployment is set too.
	StageWaits
	// StagePaused: a stage is paused at a breakpoint; Deployment is set too.
	StagePaused
	// StageProgress: a stage reports how far it is, or how it goes at its deploy targets; Deployment and Stage are set.
	StageProgress
	// StageSilent: a running stage has shown no sign of life for some time; Deployment and Stage are set.
	StageSilent
	// PlanningWaits: the planning of a deployment waits for a plugin; Deployment is set.
	PlanningWaits
	Plugin
	// Log: Deployment and Stage are set when they are known.
	Log
	// Problem: the environment is degraded for a cause. ProblemCleared: that cause is gone; Problem is set for both.
	Problem
	ProblemCleared
	// Story: the story that is played says something else; Caption is set.
	Story
	// Connection: the program that recorded a session lost its connection, or has it again; Connection and Problem are
	// set.
	Connection
)

// Change is one thing that became different. The objects belong to the Differ and must not be changed.
type Change struct {
	Kind Kind
	Time time.Time
	// Was is the former state as Name gives it; empty for what is new.
	Was string

	Environment *deckv1.Environment
	Component   *deckv1.Component
	Application *deckv1.Application
	Deployment  *deckv1.Deployment
	Stage       *deckv1.Stage
	Plugin      *deckv1.Plugin
	// PluginName is what users call the plugin: with the name of its piped where that is needed.
	PluginName string
	Log        *deckv1.LogBlock
	// Problem comes with the Component that it degrades, if any.
	Problem *deckv1.Problem
	Caption *deckv1.Caption

	Connection *deckv1.Connection
}

// Name returns an enum value without its prefix: "RUNNING", "NOT_STARTED", "OUT_OF_SYNC".
func Name(value fmt.Stringer) string { return document.Word(value) }

// Differ turns events into changes. Not safe for concurrent use.
type Differ struct {
	deck *state.Deck
	// said is what was last reported about each object.
	said map[string]saying
	// details are those of the components, with their numbers.
	details map[string]string
	// heard is the index of the last log block of each stage; it matters while the state is repeated.
	heard     map[string]int64
	repeating bool
	// problems are the present ones, by id.
	problems map[string]*deckv1.Problem
	// lost is when and why a recorded session lost its connection; nil while it has one.
	lost *deckv1.Problem
}

// saying is what makes an object worth reporting again, and how it was called.
type saying struct{ facts, name string }

// NewDiffer returns a Differ that knows nothing.
func NewDiffer() *Differ {
	return &Differ{deck: state.New(), said: map[string]saying{}, details: map[string]string{},
		heard: map[string]int64{}, problems: map[string]*deckv1.Problem{}}
}

// Deck is the state after the events applied so far.
func (d *Differ) Deck() *state.Deck { return d.deck }

// Apply takes over an event and returns what it changed, in the order in which to report it.
func (d *Differ) Apply(event *deckv1.Event) []Change {
	d.deck.Apply(event)
	at := time.Now()
	if event.GetTime().IsValid() {
		at = event.GetTime().AsTime()
	}
	switch kind := event.GetKind().(type) {
	case *deckv1.Event_Environment:
		return d.environment(at, kind.Environment)
	case *deckv1.Event_Component:
		return d.component(at, kind.Component)
	case *deckv1.Event_Application:
		return d.application(at, kind.Application)
	case *deckv1.Event_Deployment:
		return d.deployment(at, kind.Deployment)
	case *deckv1.Event_Plugin:
		return d.plugin(at, kind.Plugin)
	case *deckv1.Event_Log:
		return d.log(at, kind.Log)
	case *deckv1.Event_Problem:
		return d.problem(at, kind.Problem)
	case *deckv1.Event_Caption:
		return d.caption(at, kind.Caption)
	case *deckv1.Event_Connection:
		return d.connection(at, kind.Connection)
	case *deckv1.Event_Removed:
		delete(d.said, "application "+kind.Removed.GetApplicationId())
		delete(d.said, pluginSaying(kind.Removed.GetPipedId(), kind.Removed.GetPluginName()))
		return d.cleared(at, kind.Removed.GetProblemId())
	case *deckv1.Event_Reset_:
		d.repeating = true
	case *deckv1.Event_Synced:
		d.repeating = false
		return d.clearMissing(at)
	}
	return nil
}

// news reports whether facts differ from what was reported about key, and notes them.
func (d *Differ) news(key, name string, facts ...any) (was string, changed bool) {
	now := saying{facts: fmt.Sprint(facts...), name: name}
	before := d.said[key]
	d.said[key] = now
	return before.name, before != now
}

func (d *Differ) environment(at time.Time, e *deckv1.Environment) []Change {
	if _, changed := d.news("environment", e.GetName(), e.GetRepository(), e.GetSimulated(),
		e.GetLocalPods(), e.GetRestarting()); !changed {
		return nil
	}
	return []Change{{Kind: Environment, Time: at, Environment: e}}
}

func (d *Differ) component(at time.Time, c *deckv1.Component) []Change {
	// Numbers in the detail are progress; they would make a line of every step.
	detail := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, c.GetDetail())
	was, changed := d.news("component "+c.GetName(), Name(c.GetState()), detail, c.GetHint())
	before, known := d.details[c.GetName()]
	d.details[c.GetName()] = c.GetDetail()
	// Another process of the environment, which sends its whole state, differs from the one before in numbers alone.
	another := d.repeating && known && before != c.GetDetail() && c.GetState() == deckv1.Component_STATE_READY
	if !changed && !another {
		return nil
	}
	return []Change{{Kind: Component, Time: at, Was: was, Component: c}}
}

func (d *Differ) application(at time.Time, a *deckv1.Application) []Change {
	was, changed := d.news("application "+a.GetId(), Name(a.GetSync()), a.GetHealth(), a.GetSyncShortReason(),
		a.GetName(), a.GetDisabled(), a.GetUrl())
	if !changed {
		return nil
	}
	return []Change{{Kind: Application, Time: at, Was: was, Application: a}}
}

// deployment reports the deployment before its stages, and of its end after them.
func (d *Differ) deployment(at time.Time, dep *deckv1.Deployment) []Change {
	var own, stages []Change
	if was, changed := d.news("deployment "+dep.GetId(), Name(dep.GetStatus()), dep.GetStatusReason()); changed {
		own = []Change{{Kind: Deployment, Time: at, Was: was, Deployment: dep}}
	}
	if dep.GetPlanningWaitsFor() != "" {
		if _, changed := d.news("planning "+dep.GetId(), "", dep.GetPlanningWaitsFor()); changed {
			own = append(own, Change{Kind: PlanningWaits, Time: at, Deployment: dep})
		}
	}
	for _, stage := range dep.GetStages() {
		key := "stage " + dep.GetId() + " " + stage.GetId()
		progressed := false
		if stage.GetProgress() != nil || len(stage.GetTargets()) > 0 {
			_, progressed = d.news("progress "+key, "", stage.GetProgress(), stage.GetTargets())
		}
		if was, changed := d.news(key, Name(stage.GetStatus()), stage.GetRetries()); changed {
			stages = append(stages, Change{Kind: Stage, Time: at, Was: was, Deployment: dep, Stage: stage})
		} else if progressed {
			stages = append(stages, Change{Kind: StageProgress, Time: at, Deployment: dep, Stage: stage})
		}
		paused := stage.GetPause()
		if _, changed := d.news("pause "+key, "", paused.GetWhen(), paused.GetSince().AsTime(),
			paused.GetAttempt()); changed && paused != nil {
			stages = append(stages, Change{Kind: StagePaused, Time: at, Deployment: dep, Stage: stage})
		}
		if _, changed := d.news("approval "+key, "", stage.GetCanApprove()); changed && stage.GetCanApprove() {
			stages = append(stages, Change{Kind: StageWaits, Time: at, Deployment: dep, Stage: stage})
		}
		if since := stage.GetSilentSince(); since.IsValid() {
			if _, changed := d.news("silent "+key, "", since.AsTime()); changed {
				stages = append(stages, Change{Kind: StageSilent, Time: at, Deployment: dep, Stage: stage})
			}
		}
	}
	d.forget()
	if state.Ended(dep.GetStatus()) {
		return append(stages, own...)
	}
	return append(own, stages...)
}

func (d *Differ) plugin(at time.Time, p *deckv1.Plugin) []Change {
	detail := p.GetDetail()
	if p.GetHeld() {
		detail = "held" // where is no news: its author goes from line to line
	}
	was, changed := d.news(pluginSaying(p.GetPipedId(), p.GetName()), Name(p.GetState()), p.GetPid(), p.GetRestarts(),
		detail)
	if !changed {
		return nil
	}
	return []Change{{Kind: Plugin, Time: at, Was: was, Plugin: p, PluginName: d.deck.PluginName(p)}}
}

// caption reports what a story says: what it waits for is reported by what comes.
func (d *Differ) caption(at time.Time, c *deckv1.Caption) []Change {
	if _, changed := d.news("caption", "", c.GetText()); !changed || c.GetText() == "" {
		return nil
	}
	return []Change{{Kind: Story, Time: at, Caption: c}}
}

func pluginSaying(piped, name string) string { return "plugin " + piped + " " + name }

func (d *Differ) log(at time.Time, block *deckv1.LogBlock) []Change {
	key := block.GetDeploymentId() + " " + block.GetStageId()
	last, known := d.heard[key]
	if d.repeating && known && block.GetIndex() <= last {
		return nil
	}
	d.heard[key] = block.GetIndex()
	if block.GetTime().IsValid() {
		at = block.GetTime().AsTime()
	}
	change := Change{Kind: Log, Time: at, Log: block, Deployment: d.deck.Deployment(block.GetDeploymentId())}
	for _, stage := range change.Deployment.GetStages() {
		if stage.GetId() == block.GetStageId() {
			change.Stage = stage
		}
	}
	return []Change{change}
}

// maxSaid bounds what is remembered; it is many times what an environment has at once.
const maxSaid = 20_000

// forget drops what was reported about deployments that the deck has forgotten, when there is too much.
func (d *Differ) forget() {
	if len(d.said)+len(d.heard) <= maxSaid {
		return
	}
	for key := range d.said {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimPrefix(key, "approval "), "silent "))
		if slices.Contains([]string{"stage", "deployment", "planning"}, fields[0]) && len(fields) > 1 &&
			d.deck.Deployment(fields[1]) == nil {
			delete(d.said, key)
		}
	}
	for key := range d.heard {
		if id, _, _ := strings.Cut(key, " "); d.deck.Deployment(id) == nil {
			delete(d.heard, key)
		}
	}
}

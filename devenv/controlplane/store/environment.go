// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Environment is what is known of the environment itself: its description, its components and its problems.
type Environment struct {
	ledger   *ledger
	ownPiped string // the id of the environment's own piped

	mu        sync.Mutex
	described *deckv1.Environment // nil until Describe
	// breakpoints are those that are set; they are part of what is described.
	breakpoints []*deckv1.Breakpoint
	// onBreakpoints is called after each change of them; nil for no one.
	onBreakpoints func()
	// caption is that of the story that is played; nil before the first.
	caption    *deckv1.Caption
	components map[string]*deckv1.Component
	problems   map[string]*deckv1.Problem // by id
	// shown are the problems that no other one explains. causes are the parts that explain problems of SetProblem.
	shown  map[string]*deckv1.Problem
	causes map[string]string
}

func newEnvironment(l *ledger, ownPiped string) *Environment {
	return &Environment{
		ledger: l, ownPiped: ownPiped, components: map[string]*deckv1.Component{},
		problems: map[string]*deckv1.Problem{},
		shown:    map[string]*deckv1.Problem{}, causes: map[string]string{},
	}
}

// Describe replaces the description of the environment.
func (e *Environment) Describe(d *deckv1.Environment) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.described = proto.CloneOf(d)
	if e.described != nil {
		e.described.Breakpoints = e.breakpoints
	}
	e.ledger.publish(Change{Environment: e.described})
}

// Described returns what Describe was given last; nil before. Shared: do not change.
func (e *Environment) Described() *deckv1.Environment {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.described
}

// ShowCaption replaces the caption of the story; one without a text ends the story.
func (e *Environment) ShowCaption(c *deckv1.Caption) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if proto.Equal(e.caption, c) {
		return
	}
	e.caption = proto.CloneOf(c)
	e.ledger.publish(Change{Caption: e.caption})
}

// SetComponent adds a part of the environment or replaces the one of that name.
func (e *Environment) SetComponent(c *deckv1.Component) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c = proto.CloneOf(c)
	c.Hint = e.ledger.withFlags(c.GetHint())
	e.components[c.GetName()] = c
	e.ledger.publish(Change{Component: e.componentView(c)})
	e.judgeComponent(c)
}

// component is the component that a part is named for: "repository" for "repository sample", "plugin wait" for
// "plugin wait" where the environment builds it. Empty for none.
func (e *Environment) component(part string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.componentOf(part)
}

// componentOf is component for callers that hold e.mu.
func (e *Environment) componentOf(part string) (component string) {
	for name := range e.components {
		if (part == name || strings.HasPrefix(part, name+" ")) && len(name) > len(component) {
			component = name
		}
	}
	return component
}

// judgeComponent makes a problem of a component that failed, until it is ready or stopped. The caller holds e.mu.
func (e *Environment) judgeComponent(c *deckv1.Component) {
	switch c.GetState() {
	case deckv1.Component_STATE_FAILED:
		e.setProblem(&deckv1.Problem{
			Id: failureOf(c.GetName()), Part: c.GetName(), Component: c.GetName(), Reason: c.GetDetail(),
			NextStep: c.GetHint(),
		})
	case deckv1.Component_STATE_READY, deckv1.Component_STATE_STOPPED:
		e.clearProblem(failureOf(c.GetName()))
	}
}

// publishComponent publishes a component whose problems have changed. The caller holds e.mu.
func (e *Environment) publishComponent(name string) {
	if c := e.components[name]; c != nil {
		e.ledger.publish(Change{Component: e.componentView(c)})
	}
}

// componentView is a component as users see it: one that runs and has a problem is degraded. The caller holds e.mu.
func (e *Environment) componentView(c *deckv1.Component) *deckv1.Component {
	if c.GetState() != deckv1.Component_STATE_READY && c.GetState() != deckv1.Component_STATE_STARTING {
		return c
	}
	for _, p := range sortedProblems(e.shown) {
		if p.GetComponent() == c.GetName() && p.GetId() != failureOf(c.GetName()) {
			c = proto.CloneOf(c)
			c.State, c.Detail, c.Hint = deckv1.Component_STATE_DEGRADED, p.GetReason(), p.GetNextStep()
			c.Done, c.Total = 0, 0
			return c
		}
	}
	return c
}

// state returns the present state as changes. The store is frozen.
func (e *Environment) state() (changes []Change) {
	if e.described != nil {
		changes = append(changes, Change{Environment: e.described})
	}
	for _, c := range sorted(e.components, func(a, b *deckv1.Component) int {
		return cmp.Or(cmp.Compare(a.GetOrder(), b.GetOrder()), cmp.Compare(a.GetName(), b.GetName()))
	}) {
		changes = append(changes, Change{Component: e.componentView(c)})
	}
	for _, p := range sortedProblems(e.shown) {
		changes = append(changes, Change{Problem: p})
	}
	if e.caption.GetText() != "" {
		changes = append(changes, Change{Caption: e.caption})
	}
	return changes
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// The components in the order in which users read them.
const (
	componentControlPlane = "control plane"
	componentRepository   = "repository"
	componentPrograms     = "programs"
	componentCluster      = "kubernetes"
	componentPiped        = "piped"
)

// components keeps the state of every component and publishes its changes.
type components struct {
	publish func(*deckv1.Component)
	now     func() time.Time

	mu    sync.Mutex
	state map[string]*deckv1.Component
	// moved is when the start of a component came further, by its name.
	moved map[string]time.Time
	// stirred gets a value at each change, which stands for all changes since it was received last.
	stirred chan struct{}
}

// newComponents publishes the components, none of which has started, in the order of their names.
func newComponents(names []string, publish func(*deckv1.Component), now func() time.Time) *components {
	c := &components{publish: publish, now: now, state: map[string]*deckv1.Component{},
		moved: map[string]time.Time{}, stirred: make(chan struct{}, 1)}
	for i, name := range names {
		c.state[name] = &deckv1.Component{Name: name, Order: int32(i), State: deckv1.Component_STATE_PENDING}
		publish(proto.CloneOf(c.state[name]))
	}
	return c
}

// componentNames are those of an environment with these clusters.
func componentNames(o *Options, clusters []*runningCluster) []string {
	names := []string{componentControlPlane, componentRepository}
	for _, cluster := range clusters {
		names = append(names, cluster.component)
	}
	if o.Programs != nil {
		names = append(names, componentPrograms)
	}
	names = append(names, componentPiped)
	for _, plugin := range o.Plugins {
		if plugin.Source != "" {
			names = append(names, pluginComponent(plugin))
		}
		if plugin.Debug != "" {
			names = append(names, debuggerComponent(plugin))
		}
	}
	return names
}

func (c *components) change(name string, change func(*deckv1.Component)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	component := c.state[name]
	if component == nil { // of a plugin that was added since
		component = &deckv1.Component{Name: name, Order: int32(len(c.state))}
		c.state[name] = component
	}
	change(component)
	c.publish(proto.CloneOf(component))
	select {
	case c.stirred <- struct{}{}:
	default:
	}
}

// starting also restarts: the clock begins again unless it is running.
func (c *components) starting(name, detail string) { c.progress(name, detail, 0, 0) }

func (c *components) progress(name, detail string, done, total int64) {
	c.change(name, func(x *deckv1.Component) {
		if x.State != deckv1.Component_STATE_STARTING {
			x.StartedAt, x.EndedAt = timestamppb.New(c.now()), nil
		}
		if x.State != deckv1.Component_STATE_STARTING || x.Detail != detail || x.Done != done || x.Total != total {
			c.moved[name] = c.now()
		}
		x.State, x.Detail, x.Hint, x.Done, x.Total = deckv1.Component_STATE_STARTING, detail, "", done, total
	})
}

// anyStarts reports whether a component is starting.
func (c *components) anyStarts() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.state {
		if x.GetState() == deckv1.Component_STATE_STARTING {
			return true
		}
	}
	return false
}

// stuck returns what the components say whose start has not come further for so long, by their names.
func (c *components) stuck(patience time.Duration) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[string]string{}
	for name, x := range c.state {
		if x.GetState() == deckv1.Component_STATE_STARTING && c.now().Sub(c.moved[name]) > patience {
			found[name] = x.GetDetail()
		}
	}
	return found
}

func (c *components) ready(name, detail string) {
	c.end(name, deckv1.Component_STATE_READY, detail, "")
}

// describe changes what is said of a component that is ready.
func (c *components) describe(name, detail string) {
	c.change(name, func(x *deckv1.Component) { x.Detail = detail })
}

func (c *components) failed(name string, err error, hint string) {
	c.end(name, deckv1.Component_STATE_FAILED, err.Error(), hint)
}

func (c *components) stopped(name string) {
	c.end(name, deckv1.Component_STATE_STOPPED, "", "")
}

func (c *components) end(name string, state deckv1.Component_State, detail, hint string) {
	c.change(name, func(x *deckv1.Component) {
		if x.StartedAt == nil {
			x.StartedAt = timestamppb.New(c.now())
		}
		x.State, x.Detail, x.Hint, x.Done, x.Total = state, detail, hint, 0, 0
		x.EndedAt = timestamppb.New(c.now())
	})
}

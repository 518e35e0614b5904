// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/client"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// view is what the deck API sends, over the ends of hosts: it connects again to the next one.
type view struct {
	state string

	mu     sync.Mutex
	change chan struct{}
	now    content
	// deck is the connection to the present host, nil while there is none.
	deck deckv1.DeckServiceClient
}

// content is the state at one moment.
type content struct {
	synced      bool
	deployments map[string]*deckv1.Deployment
	components  map[string]*deckv1.Component
	plugins     map[string]*deckv1.Plugin
}

func emptyContent() content {
	return content{false, map[string]*deckv1.Deployment{}, map[string]*deckv1.Component{}, map[string]*deckv1.Plugin{}}
}

func newView(state string) *view {
	return &view{state: state, change: make(chan struct{}), now: emptyContent()}
}

// run follows the environment until ctx ends.
func (v *view) run(ctx context.Context) {
	for ctx.Err() == nil {
		_ = v.follow(ctx) // the end of a host is expected
		v.update(func(c *content) { *c = emptyContent() }, nil)
		_ = pause(ctx, connectPause)
	}
}

func (v *view) follow(ctx context.Context) error {
	w, err := workspace.At(v.state, environmentName)
	if err != nil {
		return err
	}
	if alive, err := w.Alive(); err != nil || !alive {
		return err
	}
	running, err := w.Published()
	if err != nil {
		return err
	}
	key, err := w.Keys().APIKey()
	if err != nil {
		return err
	}
	conn, err := client.Dial(running.Address, key)
	if err != nil {
		return err
	}
	defer conn.Close()
	deck := deckv1.NewDeckServiceClient(conn)
	stream, err := deck.Watch(ctx, &deckv1.WatchRequest{})
	if err != nil {
		return err
	}
	for {
		response, err := stream.Recv()
		if err != nil {
			return err
		}
		v.update(func(c *content) {
			for _, event := range response.GetEvents() {
				c.apply(event)
			}
		}, deck)
	}
}

func (c *content) apply(event *deckv1.Event) {
	switch kind := event.GetKind().(type) {
	case *deckv1.Event_Deployment:
		c.deployments[kind.Deployment.GetId()] = kind.Deployment
	case *deckv1.Event_Component:
		c.components[kind.Component.GetName()] = kind.Component
	case *deckv1.Event_Plugin:
		c.plugins[kind.Plugin.GetName()] = kind.Plugin
	case *deckv1.Event_Synced:
		c.synced = true
	case *deckv1.Event_Reset_:
		*c = emptyContent()
	}
}

func (v *view) update(change func(*content), deck deckv1.DeckServiceClient) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change(&v.now)
	v.deck = deck
	close(v.change)
	v.change = make(chan struct{})
}

// client is the connection to the present host.
func (v *view) client() (deckv1.DeckServiceClient, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.deck == nil {
		return nil, fmt.Errorf("no host answers")
	}
	return v.deck, nil
}

// await waits for a synced state that satisfies the condition. The condition must not keep the content.
func (v *view) await(ctx context.Context, what string, condition func(content) bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		v.mu.Lock()
		ok, change := v.now.synced && condition(v.now), v.change
		v.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return fmt.Errorf("never happened within %s: %s", patience, what)
		}
	}
}

// all are copies of the deployments, by id.
func (v *view) all() map[string]*deckv1.Deployment {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := maps.Clone(v.now.deployments)
	for id, d := range list {
		list[id] = proto.CloneOf(d)
	}
	return list
}

func ended(d *deckv1.Deployment) bool {
	return slices.Contains([]deckv1.DeploymentStatus{
		deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE,
		deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED,
	}, d.GetStatus())
}

// stageRuns reports whether a stage of the name runs that satisfies the condition.
func stageRuns(d *deckv1.Deployment, name string, condition func(*deckv1.Stage) bool) bool {
	return slices.ContainsFunc(d.GetStages(), func(s *deckv1.Stage) bool {
		return s.GetName() == name && s.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING && condition(s)
	})
}

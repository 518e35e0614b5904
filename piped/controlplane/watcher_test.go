// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/system/clock"
)

func runWatcher(t *testing.T, server *fakeServer, timer clock.Timer) *Watcher {
	t.Helper()
	watcher := NewWatcher(server.client(t, &eagerClock{}), timer, nil)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- watcher.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
	})
	return watcher
}

func TestChangesArePushedAndMerged(t *testing.T) {
	t.Parallel()
	server := newFakeServer()
	server.watches = make(chan *watch)
	watcher := runWatcher(t, server, &eagerClock{})
	subscription := watcher.Subscribe()
	defer subscription.Close()

	w := <-server.watches
	require.False(t, watcher.Heard())
	w.send <- &agentv1.WatchResponse{}
	<-subscription.Changed()
	require.Equal(t, everything(), subscription.Take(), "the first answer names everything")
	require.True(t, watcher.Heard())
	require.Equal(t, Change{}, subscription.Take())

	other := watcher.Subscribe()
	defer other.Close()
	<-other.Changed()
	require.Equal(t, everything(), other.Take(), "a later consumer has missed everything before")

	w.send <- &agentv1.WatchResponse{Commands: true, RestartPlugins: []string{"b"}}
	w.send <- &agentv1.WatchResponse{Deployments: true, RestartPlugins: []string{"b", "a"}}
	want := Change{Commands: true, Deployments: true, RestartPlugins: []string{"a", "b"}}
	got := Change{}
	for got.RestartPlugins == nil || !got.Deployments {
		<-subscription.Changed()
		taken := subscription.Take()
		got.Commands = got.Commands || taken.Commands
		got.Deployments = got.Deployments || taken.Deployments
		if len(taken.RestartPlugins) > len(got.RestartPlugins) {
			got.RestartPlugins = taken.RestartPlugins
		}
	}
	require.Equal(t, want, got)
}

func TestABrokenWatchIsOpenedAgainAndNamesEverything(t *testing.T) {
	t.Parallel()
	server := newFakeServer()
	server.watches = make(chan *watch)
	subscription := runWatcher(t, server, &eagerClock{}).Subscribe()
	defer subscription.Close()
	first := <-server.watches
	first.send <- &agentv1.WatchResponse{Commands: true}
	<-subscription.Changed()
	subscription.Take()
	first.end <- status.Error(codes.Unavailable, "bye")

	second := <-server.watches
	second.send <- &agentv1.WatchResponse{Commands: true}
	<-subscription.Changed()
	require.Equal(t, everything(), subscription.Take(), "anything may have changed in between")
}

func TestAControlPlaneThatCannotPushIsPolled(t *testing.T) {
	t.Parallel()
	clock := &steppedClock{waiting: make(chan pause, 10)}
	subscription := runWatcher(t, newFakeServer(), clock).Subscribe()
	defer subscription.Close()
	<-subscription.Changed()
	require.Equal(t, everything(), subscription.Take())
	for tick := 1; tick <= ticksApplications; tick++ {
		p := <-clock.waiting
		require.Equal(t, pollTick, p.length)
		close(p.pass)
		<-subscription.Changed()
		require.Equal(t, Change{
			Commands:     true,
			Deployments:  tick%ticksDeployments == 0,
			Applications: tick%ticksApplications == 0,
			Events:       tick%ticksEvents == 0,
		}, subscription.Take(), "tick %d", tick)
	}
}

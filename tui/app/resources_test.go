// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/theme"
)

func TestTheTreeOfResourcesFollowsWhatLives(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 100, 30, seams{})
	s.seesText("press a to approve")
	s.types("t")
	s.seesText("Resources of hello-world", "asking")
	server.Resources("app-1", &deckv1.WatchResourcesResponse{Resources: decktest.Resources(), Complete: true})
	s.seesText("Deployment hello-world", "ReplicaSet hello-world-7d4b9", "spec.replicas: 1 in Git",
		"ConfigMap default/settings")
	s.types("n")
	s.seesText("Deployment default/hello-world", "not as in Git: spec.replicas: 1 in Git, 2 live")

	fixed := decktest.Resources()[0]
	fixed.Health, fixed.HealthReason, fixed.Drift = deckv1.HealthStatus_HEALTH_STATUS_HEALTHY, "", ""
	server.Resources("app-1", &deckv1.WatchResourcesResponse{Resources: []*deckv1.Resource{fixed},
		Removed: []string{"missing"}, Complete: true})
	s.losesText("is missing in the cluster")
	s.seesText("Deployment default/hello-world", "healthy  at kubernetes/local")

	hook := &deckv1.Resource{Id: "h", Kind: "Job", Name: "migrate", Namespace: "default",
		DeployTarget: "kubernetes/local", Health: deckv1.HealthStatus_HEALTH_STATUS_HEALTHY,
		HealthReason: "helm.sh/hook: pre-upgrade; it has succeeded"}
	server.Resources("app-1", &deckv1.WatchResourcesResponse{Resources: []*deckv1.Resource{hook}, Complete: true})
	s.seesText("Job migrate", "helm.sh/hook: pre-upgrade; it has succeeded")

	server.Break() // and it reads again by itself, from the beginning
	server.Resources("app-1", &deckv1.WatchResourcesResponse{Removed: []string{"c"}, Complete: true})
	s.losesText("ConfigMap settings")
	s.seesText("Deployment default/hello-world", "container main")
	s.types("t")
	s.seesText("2 Deployment")
}

func TestAChosenResourceStaysChosen(t *testing.T) {
	t.Parallel()
	m := withResources(t, 100, 30)
	chosen := func() string { return m.panes.resources.tree.Rows()[m.panes.resources.at].GetName() }
	require.Equal(t, "hello-world", chosen(), "the first problem")
	m.key("G")
	require.Equal(t, "hello-world", chosen())
	require.Equal(t, 5, m.panes.resources.at)
	m.key("k", "k", "k")
	require.Equal(t, "hello-world-7d4b9", chosen())
	more := &deckv1.Resource{Id: "a", Kind: "ConfigMap", Name: "first", Namespace: "default",
		DeployTarget: "kubernetes/local", Health: deckv1.HealthStatus_HEALTH_STATUS_HEALTHY}
	m.Update(resourcesMsg{watch: m.panes.resources.watch,
		response: &deckv1.WatchResourcesResponse{Resources: []*deckv1.Resource{more}, Complete: true}})
	require.Equal(t, "hello-world-7d4b9", chosen(), "others came before it")
	m.Update(resourcesMsg{watch: m.panes.resources.watch,
		response: &deckv1.WatchResourcesResponse{Removed: []string{"r"}, Complete: true}})
	require.Equal(t, "hello-world-7d4b9-f00ba", chosen(), "what is at its place now")
}

func TestTheWatchOfResourcesEndsWithItsPane(t *testing.T) {
	t.Parallel()
	m := withResources(t, 100, 30)
	watch := m.panes.resources.watch
	m.key("2")
	require.Error(t, watch.ctx.Err())
	require.Nil(t, m.panes.resources.watch)
	m.Update(resourcesMsg{watch: watch, response: &deckv1.WatchResourcesResponse{Complete: true}}) // one was under way
	require.Nil(t, m.panes.resources.tree)
}

// A screen with many resources is drawn from those that fit.
func TestManyResourcesAreScrolled(t *testing.T) {
	t.Parallel()
	m := waiting(t, 100, 30)
	m.key("t")
	response := &deckv1.WatchResourcesResponse{Complete: true}
	for i := range 2000 {
		response.Resources = append(response.Resources, &deckv1.Resource{
			Id: fmt.Sprint(i), Kind: "ConfigMap", Name: fmt.Sprintf("c%04d", i),
			Health: deckv1.HealthStatus_HEALTH_STATUS_HEALTHY,
		})
	}
	response.Resources[1234].Drift = "data.a: \"1\" in Git, \"2\" live"
	m.Update(resourcesMsg{watch: m.panes.resources.watch, response: response})
	require.Contains(t, m.View().Content, "c0000")
	m.key("n")
	require.Contains(t, m.View().Content, "c1234")
	require.NotContains(t, m.View().Content, "c0000")
	m.key("G", "pgup")
	require.Equal(t, 1989, m.panes.resources.at)
}

func BenchmarkDrawManyResources(b *testing.B) {
	work := newWork(b.Context())
	defer work.stop()
	never := make(chan time.Time)
	m := newModel(Config{Name: "default"}, theme.Options{}, work, clock{now: decktest.Now,
		after: func(time.Duration) <-chan time.Time { return never }})
	m.see(decktest.Running()...)
	m.size(120, 40)
	m.key("t")
	response := &deckv1.WatchResourcesResponse{Complete: true}
	for i := range 2000 {
		response.Resources = append(response.Resources,
			&deckv1.Resource{Id: fmt.Sprint(i), Kind: "ConfigMap", Name: fmt.Sprintf("c%04d", i)})
	}
	m.Update(resourcesMsg{watch: m.panes.resources.watch, response: response})
	for b.Loop() {
		m.render()
	}
}

func TestAMissingResourceWasNeverCreatedAndSaysSoOnce(t *testing.T) {
	t.Parallel()
	m := withResources(t, 100, 30)
	require.Contains(t, ansi.Strip(m.View().Content), "created 5m ago", "the first problem is there")
	m.key("G")
	screen := ansi.Strip(m.View().Content)
	require.Contains(t, screen, "Service default/hello-world")
	require.NotContains(t, screen, "created")
	require.Contains(t, screen, "not as in Git: is missing in the cluster")
	require.Equal(t, 2, strings.Count(screen, "is missing in the cluster"), "in the tree and below")
}

func TestResourcesOfSeveralTargetsNameTheirOwn(t *testing.T) {
	t.Parallel()
	m := withResources(t, 100, 30)
	require.NotContains(t, ansi.Strip(m.View().Content), "settings at", "there is one only")
	more := &deckv1.Resource{Id: "z", Kind: "ConfigMap", Name: "settings", Namespace: "default",
		DeployTarget: "kubernetes/tokyo"}
	m.Update(resourcesMsg{watch: m.panes.resources.watch,
		response: &deckv1.WatchResourcesResponse{Resources: []*deckv1.Resource{more}, Complete: true}})
	screen := ansi.Strip(m.View().Content)
	require.Contains(t, screen, "ConfigMap settings at local ")
	require.Contains(t, screen, "ConfigMap settings at tokyo ")
	require.NotContains(t, screen, "x2x4z at", "what hangs below is at the same place")
}

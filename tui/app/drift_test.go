// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

// quiet is the example environment, in which nothing is being deployed.
func quiet() *deckv1.Application {
	app := decktest.Synced()
	app.Resources = &deckv1.ResourceCounts{Total: 7, Drifted: 3}
	return app
}

func TestWhatIsDriftedIsComparedAndPutBack(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Publish(decktest.Succeeded(), quiet())
	server.Resources("app-1", &deckv1.WatchResourcesResponse{Resources: decktest.Drifted(), Complete: true})
	s := play(t, dial(t, server), 120, 44, seams{})
	s.seesText("hello-world", "synced")
	s.types("t")
	s.seesText("ConfigMap default/settings")
	s.types("n")
	s.seesText("Drift of Deployment default/hello-world", "in Git", "live", "last applied", "spec.replicas",
		"live was changed by kubectl-scale: Git and last applied agree",
		"Git was changed: live is as it was applied last", "p puts it back as in Git")
	s.types("\r")
	s.seesText("As a diff", "-   image: helloworld:v1", "+   image: helloworld:v2")
	s.losesText("ReplicaSet")
	s.types("\x1b")
	s.seesText("ReplicaSet")

	s.types("p")
	s.seesText("Put Deployment hello-world back as in Git?", "all 3 resources", "pipedeck sync hello-world")
	s.types("\r")
	s.losesText("Put Deployment")
	require.Empty(t, server.Calls, "no is preselected")
	s.types("py")
	require.Equal(t, "app-1", call(t, server).(*deckv1.SyncApplicationRequest).GetApplicationId())
	s.seesText("asked to put Deployment hello-world back")
	require.Empty(t, server.Calls, "it is asked for once")
}

func TestWhatCannotBePutBackSaysWhy(t *testing.T) {
	t.Parallel()
	refused := decktest.Drifted()
	refused[0].PutBackRefused = "field is immutable"
	deploying := quiet()
	deploying.Deploying = true
	for name, c := range map[string]struct {
		kind      string
		resources []*deckv1.Resource
		app       *deckv1.Application
		says      string
	}{
		"as in Git": {"ConfigMap", decktest.Drifted(), quiet(), "ConfigMap settings is as in Git"},
		"refused": {"Deployment", refused, quiet(),
			"a sync would not change it, the cluster refuses: field is immutable"},
		"being deployed": {"Deployment", decktest.Drifted(), deploying, "a deployment of hello-world is under way"},
		"nothing to see": {"", nil, quiet(), "no resource is selected"},
	} {
		m := still(t)
		m.size(120, 44)
		m.see(decktest.Running()...)
		m.receive(decktest.Succeeded(), c.app)
		m.key("t")
		m.Update(resourcesMsg{watch: m.panes.resources.watch,
			response: &deckv1.WatchResourcesResponse{Resources: c.resources, Complete: true}})
		choose(m, c.kind)
		m.key("p")
		require.Nil(t, m.overlays.top(), name)
		require.Contains(t, m.toast.text, "cannot put the selected resource back as in Git: "+c.says, name)
		if c.kind == "Deployment" {
			require.Contains(t, strings.Join(strings.Fields(ansi.Strip(m.View().Content)), " "), "cannot be put back: ")
		}
	}
}

// choose goes to the first resource of a kind.
func choose(m *model, kind string) {
	m.key("g")
	for range m.panes.resources.rows() {
		if m.panes.resources.selected().GetKind() != kind {
			m.key("j")
		}
	}
}

func TestTheValuesOfASecretAreNotShown(t *testing.T) {
	t.Parallel()
	m := drifted(t, 120, 44)
	choose(m, "Secret")
	m.key("enter")
	screen := ansi.Strip(m.View().Content)
	require.Contains(t, screen, "data.token")
	require.Contains(t, screen, "******")
	require.Contains(t, screen, "values of Secrets are never shown")
	require.NotContains(t, screen, "As a diff")
}

// drifted is a model with the resources of decktest.Drifted on the screen.
func drifted(t *testing.T, width, height int, environ ...string) *model {
	t.Helper()
	m := still(t, environ...)
	m.size(width, height)
	m.see(decktest.Running()...)
	m.receive(decktest.Succeeded(), quiet())
	m.key("t")
	m.Update(resourcesMsg{watch: m.panes.resources.watch,
		response: &deckv1.WatchResourcesResponse{Resources: decktest.Drifted(), Complete: true}})
	choose(m, "Deployment")
	return m
}

func TestALongDriftIsScrolledAndCopied(t *testing.T) {
	t.Parallel()
	m := drifted(t, 20, 6)
	choose(m, "Deployment")
	m.key("enter")
	first := m.View().Content
	m.key("j")
	require.NotEqual(t, first, m.View().Content)
	m.key("G")
	seen := ""
	for range m.panes.resources.lines {
		seen += ansi.Strip(m.View().Content)
		m.key("k")
	}
	require.Contains(t, seen, "orld:v2", "every line is reached")
	require.Equal(t, "Deployment/hello-world\n  spec:\n-   replicas: 2\n+   replicas: 1\n"+
		"  spec.template.spec.containers[main]:\n-   image: helloworld:v1\n+   image: helloworld:v2\n",
		m.panes.resources.copied().content)
	m.key("esc")
	require.False(t, m.panes.resources.opened)
	require.Equal(t, keymap.Resources, m.screen.focus)
}

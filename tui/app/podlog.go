// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
)

// podKind is the kind of a resource that has a log.
const podKind = "Pod"

// podOf is a pod of an application: its resource, by id and name.
type podOf struct{ app, id, name string }

// pod is the selected one; the zero value for another resource.
func (p *resourcesPane) pod() podOf {
	if r := p.selected(); r.GetKind() == podKind {
		return podOf{p.chosen.app, r.GetId(), r.GetName()}
	}
	return podOf{}
}

// unlogged is why the log of a resource cannot be shown; empty when it can.
func unlogged(h *host, s *screen, r *deckv1.Resource) string {
	switch {
	case r == nil && s.focus != keymap.Resources:
		return "select a pod first: " + h.key(keymap.ShowResources)
	case r.GetKind() != podKind:
		return "select a pod: the other resources have no log and no shell"
	}
	return ""
}

// settlePod opens the log of the pod when another one is open. It gives way to another application's stages.
func settlePod(p *logPane) tea.Cmd {
	pod := p.source.pod
	if pod.app != p.chosen.app {
		p.source.pod = podOf{}
		return p.settle()
	}
	p.named, p.view.Stage, p.view.Waiting = nil, "pod "+text.Line(pod.name), ""
	if p.link.client == nil {
		return nil
	}
	// Two pods, like two stages, each have their own place in view.
	key := logKey{stage: pod.id, source: logSource{pod: pod}}
	if r := p.reader; r != nil && r.key == key {
		p.view.Waiting = "No line so far."
		if p.view.Complete {
			p.view.Waiting = "The pod wrote nothing."
		}
		return nil
	}
	return p.open(key, 0)
}

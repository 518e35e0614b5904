// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// askPutBack asks whether to make the selected resource as it is in Git, which a sync of its application does.
func (a *actions) askPutBack() tea.Cmd {
	app, r := a.chosen.application(), a.resources.selected()
	name := text.Line(r.GetKind() + " " + r.GetName())
	line := "piped deploys the newest commit of " + app.GetName() + "."
	if n := int(app.GetResources().GetDrifted()); n > 1 {
		line += fmt.Sprintf(" That puts back all %s that are not as in Git.", view.Count(n, "resource"))
	}
	return a.confirm("Put "+name+" back as in Git?", a.same(keymap.PutBack),
		a.syncFor(app, "", "asked to put "+name+" back", "put "+name+" back"), line)
}

// unreturned is why a resource cannot be put back; empty when it can.
func (a *actions) unreturned(r *deckv1.Resource, unsynced string) string {
	app := a.chosen.application()
	switch {
	case unsynced != "":
		return unsynced
	case r == nil && a.screen.focus != keymap.Resources:
		return "select a resource first: " + a.host.key(keymap.ShowResources)
	case r == nil:
		return "no resource is selected"
	case r.GetDrift() == "":
		return text.Line(r.GetKind()+" "+r.GetName()) + " is as in Git"
	case r.GetPutBackRefused() != "":
		return "a sync would not change it, the cluster refuses: " + text.Line(r.GetPutBackRefused())
	case app.GetDeploying():
		return "a deployment of " + app.GetName() + " is under way; wait for its end, or cancel it with " +
			a.host.key(keymap.Cancel)
	}
	return ""
}

// putBackLine says in the details of a resource how it is put back; empty for one that is as in Git, and for who
// cannot do that.
func (a *actions) putBackLine(r *deckv1.Resource) string {
	if r.GetDrift() == "" || a.host.cfg.ReadOnly != "" {
		return ""
	}
	key := a.host.file.Map.Key(keymap.Resources, keymap.PutBack)
	if reason := a.reasons()[keymap.PutBack]; reason != "" {
		return "cannot be put back: " + reason
	}
	return key + " puts it back as in Git (asks)"
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// ApplicationName is the name of an application for users. Where several have one name, what distinguishes it follows:
// its piped, else its directory, else its deploy target, else its id.
func (d *Deck) ApplicationName(app *deckv1.Application) string {
	if app == nil {
		return ""
	}
	if d.named == nil {
		d.named = map[string][]*deckv1.Application{}
		for _, one := range d.applications {
			d.named[one.GetName()] = append(d.named[one.GetName()], one)
		}
	}
	group := d.named[app.GetName()]
	if len(group) < 2 {
		return app.GetName()
	}
	for _, mark := range []struct {
		before string
		of     func(*deckv1.Application) string
	}{
		{" of ", func(a *deckv1.Application) string { return d.PipedName(a.GetPipedId()) }},
		{" in ", (*deckv1.Application).GetPath},
		{" to ", func(a *deckv1.Application) string {
			if targets := a.GetDeployTargets(); len(targets) > 0 {
				return targets[0]
			}
			return ""
		}},
		{" ", (*deckv1.Application).GetId},
	} {
		if own := mark.of(app); own != "" && countOf(group, own, mark.of) == 1 {
			return app.GetName() + mark.before + own
		}
	}
	return app.GetName()
}

// ApplicationArgument names an application to a command: by its id where its name is not its own.
func (d *Deck) ApplicationArgument(app *deckv1.Application) string {
	if d.ApplicationName(app) != app.GetName() {
		return app.GetId()
	}
	return app.GetName()
}

func countOf(group []*deckv1.Application, value string, of func(*deckv1.Application) string) int {
	n := 0
	for _, one := range group {
		if of(one) == value {
			n++
		}
	}
	return n
}

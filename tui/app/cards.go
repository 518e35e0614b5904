// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
)

// card is a card by the name under which the environment remembers that it was shown.
type card string

const (
	// firstCard follows the first deployment, successCard the first pipeline that succeeds.
	firstCard   card = "first"
	successCard card = "success"
)

// cards are shown once in an environment, each when its deployment has succeeded, and again when the user asks. A card
// takes only the key that hides it, and it stands below the stages and the log, so it covers neither. It gives way to a
// newer deployment and to a user who reads, and it is not shown while anything is wrong.
type cards struct {
	host    *host
	link    *link
	chosen  *selection
	screen  *screen
	actions *actions
	// reading reports whether the user reads or looks for something where a card would take the room.
	reading func() bool

	// open is the card on the screen, "" for none; of is the id of the deployment that it is about.
	open card
	of   string
	// seen are those that were on the screen.
	seen map[card]bool
	// asked are the stages, by their id and that of their deployment, that were seen waiting for a person.
	asked map[[2]string]bool
	// addresses are those at which applications are reached, by the application's id.
	addresses map[string]string
}

func newCards(h *host, l *link, chosen *selection, s *screen, a *actions) cards {
	c := cards{host: h, link: l, chosen: chosen, screen: s, actions: a, seen: map[card]bool{},
		asked: map[[2]string]bool{}, addresses: map[string]string{}}
	// Where the file cannot be read, the cards are remembered until the UI ends.
	if content, err := os.ReadFile(h.cfg.Files.Cards); h.cfg.Files.Cards != "" && err == nil {
		for name := range strings.FieldsSeq(string(content)) {
			c.seen[card(name)] = true
		}
	}
	return c
}

// settle opens the card whose time has come, and closes one that a newer deployment has overtaken.
func (c *cards) settle() tea.Cmd {
	if !c.screen.main || !c.link.answers() || c.host.cfg.ReadOnly != "" { // cards are about what a user does next
		return nil
	}
	deck := c.link.deck
	newest, of := deck.Newest(c.chosen.app), deck.Deployment(c.of)
	c.note(newest)
	if of == nil || of != deck.Newest(of.GetApplicationId()) {
		c.open = ""
	}
	byItself := c.host.cfg.Guide == nil && c.host.caption == nil // a story says what comes next
	if byItself && c.open == "" && !c.reading() && c.trouble() == "" && succeeded(newest) {
		c.begin(newest)
	}
	if !c.visible() || c.seen[c.open] {
		return nil
	}
	c.seen[c.open] = true
	return c.remember()
}

// note keeps in mind which stages of a deployment wait for a person.
func (c *cards) note(d *deckv1.Deployment) {
	const most = 256
	if len(c.asked) >= most {
		clear(c.asked)
	}
	for _, stage := range d.GetStages() {
		if stage.GetCanApprove() {
			c.asked[[2]string{d.GetId(), stage.GetId()}] = true
		}
	}
}

// begin opens the card that fits a deployment that has succeeded, unless it was shown before.
func (c *cards) begin(d *deckv1.Deployment) {
	switch {
	case d.GetStrategy() == pipeline && !c.seen[successCard]:
		c.open, c.of = successCard, d.GetId()
	case isFirst(d) && !c.seen[firstCard] && c.firstOnly():
		c.lead()
		c.open, c.of = firstCard, c.link.deck.Newest(c.chosen.app).GetId()
	}
}

// pipeline is the strategy of a deployment that went through the stages of its configuration.
const pipeline = "PIPELINE"

func succeeded(d *deckv1.Deployment) bool {
	return d.GetStatus() == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS
}

// isFirst reports whether a deployment was the first of its application.
func isFirst(d *deckv1.Deployment) bool { return d.GetRunningCommit() == "" }

// firstOnly reports whether every application has succeeded in its first deployment and in no other.
func (c *cards) firstOnly() bool {
	return !slices.ContainsFunc(c.link.deck.Applications(), func(app *deckv1.Application) bool {
		d := c.link.deck.Newest(app.GetId())
		return !succeeded(d) || !isFirst(d)
	})
}

// lead selects the application with the file that is worth editing first, unless the user has chosen one.
func (c *cards) lead() {
	if c.chosen.appPinned || c.chosen.stagePinned {
		return
	}
	for _, app := range c.link.deck.Applications() {
		if strings.HasPrefix(c.link.deck.Environment().GetEditHint(), app.GetPath()+"/") {
			c.chosen.app = app.GetId()
			c.chosen.settle()
			return
		}
	}
}

// trouble is why there is no card now: something needs the place or the attention more.
func (c *cards) trouble() string {
	deck, newest := c.link.deck, c.link.deck.Newest(c.chosen.app)
	app := c.chosen.application()
	switch {
	case c.host.cfg.ReadOnly != "":
		return c.host.cfg.ReadOnly
	case !c.link.answers():
		return "not connected"
	case len(deck.Problems()) > 0 || len(deck.Failed()) > 0:
		return "the environment is degraded; " + c.host.key(keymap.ShowEnvironment) + " shows why"
	case app == nil:
		return "there is no application yet"
	case newest == nil:
		return app.GetName() + " has no deployment yet"
	case !state.Ended(newest.GetStatus()):
		return app.GetName() + " is being deployed"
	case !succeeded(newest):
		return "the newest deployment of " + app.GetName() + " did not succeed"
	case app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG:
		return "the configuration of " + app.GetName() + " is not valid"
	case app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_ORPHANED:
		return app.GetName() + " is not in Git any more"
	case app.GetHealth() == deckv1.HealthStatus_HEALTH_STATUS_OTHER:
		return app.GetName() + " is not healthy; " + c.host.key(keymap.ShowResources) + " shows why"
	}
	return ""
}

// visible reports whether a card is on the screen: next to its deployment, where there is room for it.
func (c *cards) visible() bool {
	nextTo := c.screen.focus == keymap.Deployment || c.screen.focus == keymap.Applications && c.screen.wide()
	room := c.screen.main && c.screen.tabbed() && c.screen.height >= minHeight && !c.screen.zoomed &&
		!(c.host.look.Big && c.screen.big())
	return c.open != "" && nextTo && room && !c.reading() && c.chosen.deployment().GetId() == c.of && c.trouble() == ""
}

// show opens the card about the newest deployment again.
func (c *cards) show() {
	newest := c.link.deck.Newest(c.chosen.app)
	c.open, c.of = firstCard, newest.GetId()
	if newest.GetStrategy() == pipeline {
		c.open = successCard
	}
	c.chosen.release()
	c.chosen.appPinned = true
	c.screen.focus, c.screen.zoomed = keymap.Deployment, false
}

// hide closes the card.
func (c *cards) hide() { c.open = "" }

// remember writes down which cards were shown. Where it cannot, they are remembered until the UI ends.
func (c *cards) remember() tea.Cmd {
	file := c.host.cfg.Files.Cards
	if file == "" {
		return nil
	}
	var names strings.Builder
	for _, name := range []card{firstCard, successCard} {
		if c.seen[name] {
			names.WriteString(string(name) + "\n")
		}
	}
	return c.host.work.do(func(context.Context) tea.Msg {
		_ = os.WriteFile(file, []byte(names.String()), 0o600)
		return nil
	})
}

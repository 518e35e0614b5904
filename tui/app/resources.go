// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// resourceWatch reads what lives of one application, while its tree is on the screen.
type resourceWatch struct {
	application string
	ctx         context.Context
	cancel      context.CancelFunc
}

// Messages of a watch.
type (
	// resourcesMsg belongs to the receiver; err ends the watch.
	resourcesMsg struct {
		watch    *resourceWatch
		response *deckv1.WatchResourcesResponse
		err      error
	}
	// retryResourcesMsg says that it is time to read again what could not be read.
	retryResourcesMsg struct{ watch *resourceWatch }
)

// resourcesPane is the tree of live resources of the selected application, and where the user is in it.
type resourcesPane struct {
	host   *host
	link   *link
	chosen *selection
	toast  *toast

	watch   *resourceWatch
	tree    *state.Tree
	trouble string
	// of is the application of at and id, which outlast a watch: the selected row, and its resource.
	of string
	at int
	id string
	// opened: the details of the selected resource have the pane. top is their first line shown; page is how many
	// lines were shown last, and lines how many there are.
	opened           bool
	top, page, lines int
	look             *find
	// putBack says how the selected resource is put back, or why it cannot be.
	putBack func(*deckv1.Resource) string
}

func newResourcesPane(h *host, l *link, chosen *selection, toast *toast) *resourcesPane {
	p := &resourcesPane{host: h, link: l, chosen: chosen, toast: toast, look: newFind(h.theme, "/")}
	p.putBack = func(*deckv1.Resource) string { return "" }
	p.look.mark = func() func() {
		id := p.id
		return func() { p.id = id; p.stay() }
	}
	p.look.changed = func() { p.opened = false; p.stay() }
	return p
}

func (p *resourcesPane) finding() *find { return p.look }

// rows are the resources that match the filter; the matches stand without their tree.
func (p *resourcesPane) rows() []state.TreeRow {
	if p.tree == nil {
		return nil
	}
	rows := p.tree.Rows()
	if p.look.query == "" {
		return rows
	}
	var found []state.TreeRow
	for _, row := range rows {
		if p.look.matches(row.GetKind(), row.GetName(), row.GetNamespace(), view.ResourceWord(row.Resource)) {
			row.Rails = nil
			found = append(found, row)
		}
	}
	return found
}

// run reads until cancel and sends each response to the model.
func (w *resourceWatch) run(client deckv1.DeckServiceClient, send func(tea.Msg)) {
	stream, err := client.WatchResources(w.ctx, &deckv1.WatchResourcesRequest{ApplicationId: w.application},
		grpc.MaxCallRecvMsgSize(maxMessage))
	for err == nil {
		var response *deckv1.WatchResourcesResponse
		if response, err = stream.Recv(); err == nil {
			text.CleanMessage(response)
			send(resourcesMsg{watch: w, response: response})
		}
	}
	if w.ctx.Err() == nil {
		send(resourcesMsg{watch: w, err: err})
	}
}

// settle opens the watch of the selected application while the pane is on the screen, and ends any other.
func (p *resourcesPane) settle(shown bool) tea.Cmd {
	app := p.chosen.app
	if p.watch != nil && (!shown || p.watch.application != app || p.link.client == nil) {
		p.close()
	}
	if !shown || app == "" || p.link.client == nil || p.watch != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(p.host.work.ctx)
	watch := &resourceWatch{application: app, ctx: ctx, cancel: cancel}
	p.watch, p.tree = watch, &state.Tree{}
	if p.of != app {
		p.of, p.at, p.id, p.opened = app, 0, "", false
	}
	if p.host.film != nil {
		return p.host.film.follow(watch)
	}
	client, send := p.link.client, p.host.send
	return p.host.work.do(func(context.Context) tea.Msg {
		watch.run(client, send)
		return nil
	})
}

func (p *resourcesPane) close() {
	if p.watch != nil {
		p.watch.cancel()
	}
	p.watch, p.tree = nil, nil
}

// take takes the messages of watches, and of a new connection.
func (p *resourcesPane) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case connectedMsg:
		p.close() // and settle opens it again
	case resourcesMsg:
		return p.grow(msg)
	case retryResourcesMsg:
		if msg.watch == p.watch {
			p.close()
		}
	}
	return nil
}

// grow takes news of the tree. A tree that cannot be read is tried again.
func (p *resourcesPane) grow(msg resourcesMsg) tea.Cmd {
	if msg.watch != p.watch {
		return nil
	}
	if msg.err == nil {
		p.trouble = ""
		p.tree.Apply(msg.response)
		if msg.response.GetComplete() {
			p.stay()
		}
		return nil
	}
	p.trouble = "cannot read the resources: " + plain(msg.err)
	return p.host.later(logRetry, retryResourcesMsg{msg.watch})
}

// stay keeps the selected resource selected when the tree is another, or its place when it is gone.
func (p *resourcesPane) stay() {
	rows := p.rows()
	if p.at < len(rows) && rows[p.at].GetId() == p.id {
		return
	}
	for i, row := range rows {
		if row.GetId() == p.id {
			p.at = i
			return
		}
	}
	p.choose(p.at)
}

func (p *resourcesPane) choose(at int) {
	rows := p.rows()
	p.at, p.id, p.top = moved(at, 0, len(rows)), "", 0
	if len(rows) > 0 {
		p.id = rows[p.at].GetId()
	}
}

// problem goes to the next or the previous resource that is worth looking at, round the ends.
func (p *resourcesPane) problem(step int) tea.Cmd {
	if p.tree == nil {
		return nil
	}
	rows := p.rows()
	for i := 1; i <= len(rows); i++ {
		at := (p.at + step*i + len(rows)*len(rows)) % len(rows)
		if rows[at].Problem() {
			p.choose(at)
			return nil
		}
	}
	return p.toast.say("every resource is healthy and as in Git", false)
}

func (p *resourcesPane) move(action keymap.Action) {
	switch {
	case p.opened:
		n := steps(action)
		if action == keymap.PageUp || action == keymap.PageDown {
			n = n / 10 * max(1, p.page-1)
		}
		p.top = max(0, min(p.top+n, p.lines-p.page))
	case p.tree != nil:
		p.choose(p.at + steps(action))
	}
}

// selected is the resource under the cursor; nil for none.
func (p *resourcesPane) selected() *deckv1.Resource {
	rows := p.rows()
	if len(rows) == 0 {
		return nil
	}
	return rows[min(p.at, len(rows)-1)].Resource
}

// open gives the details of the selected resource the whole pane, and again: back.
func (p *resourcesPane) open() {
	p.opened, p.top = !p.opened && p.selected() != nil, 0
}

func (p *resourcesPane) draw(width, height int, _ bool) string {
	app := p.chosen.application()
	v := view.Resources{Theme: p.host.theme, Application: app, Selected: p.at, Now: p.host.now, Trouble: p.trouble}
	switch {
	case app == nil:
		v.Waiting = "No application is selected."
	case p.tree == nil || !p.tree.Known():
		v.Waiting = "asking" + p.host.theme.Ellipsis
	default:
		v.Rows = p.rows()
		v.Open, v.Top, v.PutBack = p.opened, p.top, p.putBack(p.selected())
		room := height
		if p.look.shown() {
			room--
		}
		p.page, p.lines = v.Fit(width, room)
		v.Waiting = cmp.Or(noMatch(p.look, len(p.tree.Rows()), "resources"),
			"No live resources: not deployed yet, or its plugin does not report live state.")
	}
	return drawFound(p.look, fmt.Sprintf("%d found", len(v.Rows)), width, height, v.Draw)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
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

// resources is the tree and where the user is in it.
type resources struct {
	watch   *resourceWatch
	tree    *state.Tree
	trouble string

	// of is the application of at and id, which outlast a watch: the selected row, and its resource.
	of string
	at int
	id string
}

// run reads until cancel; the model is told of each response.
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

// settleResources opens the watch of what is on the screen, and ends any other.
func (m *model) settleResources() tea.Cmd {
	if m.resources.watch != nil && (m.focus != keymap.Resources || m.resources.watch.application != m.app ||
		m.client == nil) {
		m.closeResources()
	}
	if m.focus != keymap.Resources || m.app == "" || m.client == nil || m.resources.watch != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(m.work.ctx)
	watch := &resourceWatch{application: m.app, ctx: ctx, cancel: cancel}
	m.resources.watch, m.resources.tree = watch, &state.Tree{}
	if m.resources.of != m.app {
		m.resources.of, m.resources.at, m.resources.id = m.app, 0, ""
	}
	client := m.client
	return m.work.do(func(context.Context) tea.Msg {
		watch.run(client, m.send)
		return nil
	})
}

func (m *model) closeResources() {
	if m.resources.watch != nil {
		m.resources.watch.cancel()
	}
	m.resources.watch, m.resources.tree = nil, nil
}

// takeResources takes news of the tree. One that cannot be read is tried again.
func (m *model) takeResources(msg resourcesMsg) tea.Cmd {
	r := &m.resources
	if msg.watch != r.watch {
		return nil
	}
	if msg.err == nil {
		r.trouble = ""
		r.tree.Apply(msg.response)
		if msg.response.GetComplete() {
			r.stay()
		}
		return nil
	}
	r.trouble = "cannot read the resources: " + plain(msg.err)
	return m.work.do(func(ctx context.Context) tea.Msg {
		select {
		case <-m.clock.after(logRetry):
			return retryResourcesMsg{msg.watch}
		case <-ctx.Done():
			return nil
		}
	})
}

// stay keeps the selected resource selected when the tree is another, or its place when it is gone.
func (r *resources) stay() {
	rows := r.tree.Rows()
	if r.at < len(rows) && rows[r.at].GetId() == r.id {
		return
	}
	for i, row := range rows {
		if row.GetId() == r.id {
			r.at = i
			return
		}
	}
	r.choose(r.at)
}

func (r *resources) choose(at int) {
	rows := r.tree.Rows()
	r.at, r.id = moved(at, 0, len(rows)), ""
	if len(rows) > 0 {
		r.id = rows[r.at].GetId()
	}
}

// problem goes to the next or the previous resource that is worth looking at, round the ends.
func (m *model) problem(step int) tea.Cmd {
	if m.resources.tree == nil {
		return nil
	}
	rows := m.resources.tree.Rows()
	for i := 1; i <= len(rows); i++ {
		at := (m.resources.at + step*i + len(rows)*len(rows)) % len(rows)
		if rows[at].Problem() {
			m.resources.choose(at)
			return nil
		}
	}
	return m.say("every resource is healthy and as in Git", false)
}

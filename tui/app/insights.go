// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// Messages of the insights.
type (
	// insightsMsg answers the question with this number.
	insightsMsg struct {
		number int
		report *deckv1.GetInsightsResponse
		err    error
	}
	// retryInsightsMsg says that it is time to ask again what was not answered.
	retryInsightsMsg struct{ number int }
)

// insightsPane shows how deployments went: of all applications, and of each.
type insightsPane struct {
	host   *host
	link   *link
	chosen *selection

	// report is the last answer; nil before the first. old: deployments have ended since it was asked for.
	report  *deckv1.GetInsightsResponse
	old     bool
	trouble string
	// number is that of the last question; asking: its answer, or the time to repeat it, has not come.
	number int
	asking bool
	// at is the selected row; the first is that of all applications. id is that of its application.
	at   int
	id   string
	look *find
}

func newInsightsPane(h *host, l *link, chosen *selection) *insightsPane {
	p := &insightsPane{host: h, link: l, chosen: chosen, look: newFind(h.theme, "/")}
	p.look.mark = func() func() { id := p.id; return func() { p.id = id; p.stay() } }
	p.look.changed = p.stay
	return p
}

func (p *insightsPane) finding() *find { return p.look }

// rows are all applications together, and then those that match the filter.
func (p *insightsPane) rows() []*deckv1.Insight {
	if p.report == nil {
		return nil
	}
	rows := []*deckv1.Insight{p.report.GetAll()}
	for _, one := range p.report.GetApplications() {
		if p.look.matches(one.GetApplicationName()) {
			rows = append(rows, one)
		}
	}
	return rows
}

func (p *insightsPane) move(action keymap.Action) { p.choose(p.at + steps(action)) }

func (p *insightsPane) choose(at int) {
	rows := p.rows()
	p.at, p.id = moved(at, 0, len(rows)), ""
	if len(rows) > 0 {
		p.id = rows[p.at].GetApplicationId()
	}
}

// stay keeps the selected application selected when there are others.
func (p *insightsPane) stay() {
	at := slices.IndexFunc(p.rows(), func(one *deckv1.Insight) bool { return one.GetApplicationId() == p.id })
	if at >= 0 {
		p.at = at
		return
	}
	p.choose(p.at)
}

// open selects the application under the cursor; false for all of them.
func (p *insightsPane) open() bool {
	if p.chosen.deck.Application(p.id) == nil {
		return false
	}
	p.chosen.pinApplication(p.id)
	return true
}

// settle asks while the pane is on the screen, and again when deployments have ended.
func (p *insightsPane) settle(shown bool) tea.Cmd {
	if !shown || p.asking || p.link.client == nil || p.report != nil && !p.old {
		return nil
	}
	p.number++
	p.asking, p.old = true, false
	number, client := p.number, p.link.client
	return p.host.work.do(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		report, err := client.GetInsights(ctx, &deckv1.GetInsightsRequest{})
		if err == nil {
			text.CleanMessage(report)
		}
		return insightsMsg{number, report, err}
	})
}

// take takes answers, and hears of deployments that end.
func (p *insightsPane) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case connectedMsg:
		p.asking, p.old = false, true
		p.number++ // what is under way is about the time before
	case eventsMsg:
		p.old = p.old || slices.ContainsFunc(msg.events, func(e *deckv1.Event) bool {
			return e.GetDeployment() != nil && state.Ended(e.GetDeployment().GetStatus()) || e.GetRemoved() != nil
		})
	case retryInsightsMsg:
		if msg.number == p.number {
			p.asking, p.old = false, true
		}
	case insightsMsg:
		return p.answered(msg)
	}
	return nil
}

func (p *insightsPane) answered(msg insightsMsg) tea.Cmd {
	switch {
	case msg.number != p.number:
		return nil
	case status.Code(msg.err) == codes.Unimplemented:
		p.trouble = "This environment is of an older pipedeck, which measures nothing. End it with pipedeck down, " +
			"and start it again."
		return nil // and asking, so that it is not asked again
	case msg.err != nil:
		p.trouble = "cannot read the insights: " + plain(msg.err)
		return p.host.later(logRetry, retryInsightsMsg{msg.number})
	}
	p.asking, p.trouble, p.report = false, "", msg.report
	p.stay()
	return nil
}

func (p *insightsPane) copied() copied {
	rows := p.rows()
	if len(rows) == 0 {
		return copied{}
	}
	one := rows[min(p.at, len(rows)-1)]
	name := cmp.Or(one.GetApplicationName(), "all applications")
	return copied{"the insights of " + name, view.InsightText(p.report, one)}
}

func (p *insightsPane) draw(width, height int, _ bool) string {
	rows := p.rows()
	v := view.Insights{Theme: p.host.theme, Report: p.report, Rows: rows, Selected: p.at, Trouble: p.trouble,
		Zone: p.host.now.Location()}
	if p.report == nil {
		v.Waiting = "asking" + p.host.theme.Ellipsis
	}
	found := max(0, len(rows)-1)
	return drawFound(p.look, fmt.Sprintf("%d of %d", found, len(p.report.GetApplications())), width, height, v.Draw)
}

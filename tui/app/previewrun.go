// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
	"github.com/pipedeck/pipedeck/tui/view"
)

// Messages of a plan preview.
type (
	branchesMsg struct {
		answer *deckv1.ListBranchesResponse
		err    error
	}
	// previewMsg is news of a preview; err ends it.
	previewMsg struct {
		run      *previewRun
		response *deckv1.PlanPreviewResponse
		err      error
	}
)

// clean is the branches with a name that a user can read.
func (m branchesMsg) clean() []*deckv1.Branch {
	text.CleanMessage(m.answer)
	return m.answer.GetBranches()
}

// previewRun is the preview of one branch, and where the user is in it.
type previewRun struct {
	branch string
	ctx    context.Context
	cancel context.CancelFunc
	began  time.Time

	// progress is the last news before the end; over: nothing follows.
	progress *deckv1.PlanPreviewProgress
	over     bool
	failed   bool
	lines    []view.PreviewLine
	// rows are lines in width columns, first the line that each belongs to.
	rows  []view.PreviewLine
	first []int
	width int
	// top is the first row shown, page how many were shown last. hit is the line that was gone to; -1 for none.
	top, page, hit int
}

// read waits for the preview and sends each answer to the model.
func (r *previewRun) read(client deckv1.DeckServiceClient, send func(tea.Msg)) {
	defer r.cancel()
	stream, err := client.PreviewBranch(r.ctx, &deckv1.PreviewBranchRequest{Branch: r.branch},
		grpc.MaxCallRecvMsgSize(maxMessage))
	for err == nil {
		var response *deckv1.PlanPreviewResponse
		if response, err = stream.Recv(); err == nil {
			text.CleanMessage(response)
			send(previewMsg{run: r, response: response})
			if response.GetResult() != nil {
				return
			}
		}
	}
	if r.ctx.Err() == nil {
		send(previewMsg{run: r, err: err})
	}
}

func (r *previewRun) take(th theme.Theme, msg previewMsg, reason func(error) string) {
	switch {
	case msg.err != nil:
		r.over, r.failed = true, true
		r.lines = []view.PreviewLine{{Kind: 'w', Text: r.branch + " cannot be previewed"}, {Kind: ' '},
			{Kind: '!', Text: reason(msg.err)}}
	case msg.response.GetResult() != nil:
		r.over, r.failed = true, view.Failed(msg.response.GetResult())
		r.lines = view.PreviewLines(th, msg.response.GetResult())
	default:
		r.progress = msg.response.GetProgress()
	}
	r.width = 0
}

// waiting is what is said before the end.
func (r *previewRun) waiting(h *host) string {
	said := "waiting for piped: what merging " + r.branch + " would deploy" + h.theme.Ellipsis
	if p := r.progress; p != nil {
		said += fmt.Sprintf(" %d of %d answered.", p.GetAnswered(), p.GetAsked())
	}
	return said + " esc stops it."
}

func (r *previewRun) move(action keymap.Action) {
	n := steps(action)
	if action == keymap.PageUp || action == keymap.PageDown {
		n = n / 10 * max(1, r.page-1)
	}
	r.scroll(r.top + n)
}

func (r *previewRun) scroll(top int) { r.top = max(0, min(top, len(r.rows)-r.page)) }

// find goes to the first hit from the top on.
func (r *previewRun) find(query string) {
	if r == nil {
		return
	}
	r.hit = -1
	if query != "" && len(r.rows) > 0 {
		r.hit = r.first[min(r.top, len(r.first)-1)] - 1
		if !r.next(1, query) {
			r.hit = -1
		}
	}
}

// next goes to the next line with the query, or of an application when it is empty, round the ends; false for none.
func (r *previewRun) next(n int, query string) bool {
	query = strings.ToLower(query)
	from := r.hit
	if from < 0 && n < 0 {
		from = 0
	}
	for i := 1; i <= len(r.lines); i++ {
		at := ((from+i*n)%len(r.lines) + len(r.lines)) % len(r.lines)
		line := r.lines[at]
		if query == "" && line.Kind == '*' || query != "" && strings.Contains(strings.ToLower(line.Text), query) {
			r.hit = at
			r.show(at)
			return true
		}
	}
	return false
}

// show brings a line into sight, a third from the top.
func (r *previewRun) show(line int) {
	for row, of := range r.first {
		if of == line {
			r.scroll(row - r.page/3)
			return
		}
	}
}

func (r *previewRun) draw(h *host, query string, width, height int) string {
	v := view.Preview{Theme: h.theme, Branch: r.branch, Lines: r.lines, Waiting: r.waiting(h), Failed: r.failed,
		Query: strings.ToLower(query), Hit: r.hit}
	if r.width != width {
		r.rows, r.first = v.Rows(width)
		r.width = width
	}
	r.page = max(1, min(height-1, len(r.rows)))
	r.scroll(r.top)
	v.Top = r.top
	return v.Draw(r.rows, r.first, width, height)
}

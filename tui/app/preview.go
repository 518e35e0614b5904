// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/view"
)

// previewPane shows what merging a branch would deploy: first the branches, then the preview of the chosen one.
type previewPane struct {
	host  *host
	link  *link
	toast *toast

	// branches are what can be previewed; listed: they have come. asked is whether they were asked for.
	branches      []*deckv1.Branch
	asked, listed bool
	trouble       string
	// wanted: enter was pressed before the branches came.
	wanted bool
	// at is the selected branch of those that match.
	at int
	// run is the preview under way or shown; nil while a branch is chosen.
	run *previewRun

	look   *find // filters branches
	search *find // searches a preview
}

func newPreviewPane(h *host, l *link, toast *toast) *previewPane {
	p := &previewPane{host: h, link: l, toast: toast, look: newFind(h.theme, "branch: "),
		search: newFind(h.theme, "/")}
	p.look.says = "You are typing the name of a branch; enter previews the selected one."
	p.look.enter = "preview"
	p.look.changed = func() { p.at = 0 }
	p.look.kept = p.preview
	p.search.purpose = searching
	p.search.changed = func() { p.run.find(p.search.query) }
	return p
}

func (p *previewPane) finding() *find {
	if p.run != nil {
		return p.search
	}
	return p.look
}

// enter lists the branches again, with the cursor in the line for a name.
func (p *previewPane) enter() {
	if p.run == nil {
		p.asked, p.wanted = false, false
		p.look.begin()
	}
}

// list is the branches that match what was typed.
func (p *previewPane) list() []*deckv1.Branch {
	return ranked(p.look, p.branches, view.BranchWords)
}

func (p *previewPane) move(action keymap.Action) {
	if p.run != nil {
		p.run.move(action)
		return
	}
	p.at = moved(p.at, steps(action), len(p.list()))
}

// next goes to the next hit of the search, or to the next application; to the previous when n is negative.
func (p *previewPane) next(n int) tea.Cmd {
	switch {
	case p.run == nil:
		return p.toast.note("no branch is previewed yet")
	case !p.run.next(n, p.search.query) && p.search.query != "":
		return p.toast.note(fmt.Sprintf("no hit for %q", p.search.query))
	}
	return nil
}

// back goes from the preview to the branches, and ends a preview under way; false when there is none.
func (p *previewPane) back() bool {
	if p.run == nil {
		return false
	}
	p.run.cancel()
	p.run = nil
	p.search.clear()
	return true
}

// preview asks for the preview of the selected branch.
func (p *previewPane) preview() tea.Cmd {
	list := p.list()
	switch {
	case p.run != nil:
		return nil
	case !p.link.answers():
		return p.toast.say("cannot preview: not connected", true)
	case !p.listed:
		p.wanted = true
		return nil
	case p.trouble != "":
		return p.toast.say("cannot preview: "+p.trouble, true)
	case len(list) == 0:
		return p.toast.say(fmt.Sprintf("cannot preview: no branch matches %q", p.look.query), true)
	}
	branch := list[min(p.at, len(list)-1)].GetName()
	ctx, cancel := context.WithCancel(p.host.work.ctx)
	run := &previewRun{branch: branch, ctx: ctx, cancel: cancel, hit: -1, began: p.host.now}
	p.run = run
	client, send := p.link.client, p.host.send
	return p.host.work.do(func(context.Context) tea.Msg {
		run.read(client, send)
		return nil
	})
}

// settle asks for the branches while they are on the screen.
func (p *previewPane) settle(shown bool) tea.Cmd {
	if !shown || p.run != nil || p.asked || p.link.client == nil {
		return nil
	}
	p.asked = true
	client := p.link.client
	return p.host.work.do(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		answer, err := client.ListBranches(ctx, &deckv1.ListBranchesRequest{})
		return branchesMsg{answer, err}
	})
}

// take takes answers.
func (p *previewPane) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case connectedMsg:
		p.asked = false
	case branchesMsg:
		p.listed, p.trouble = true, ""
		if msg.err != nil {
			p.trouble = p.reason(msg.err)
			return nil
		}
		p.branches = msg.clean()
		p.at = moved(p.at, 0, len(p.list()))
		if p.wanted {
			p.wanted = false
			return p.preview()
		}
	case previewMsg:
		if msg.run == p.run && p.run != nil {
			p.run.take(p.host.theme, msg, p.reason)
		}
	}
	return nil
}

// reason is why the environment did not answer.
func (p *previewPane) reason(err error) string {
	if status.Code(err) == codes.Unimplemented {
		return "This environment is of an older pipedeck, whose screen has no plan previews. Run pipedeck " +
			"plan-preview, or end it with pipedeck down and start it again."
	}
	return plain(err)
}

func (p *previewPane) copied() copied {
	if p.run == nil {
		list := p.list()
		if len(list) == 0 {
			return copied{}
		}
		return copied{"the name of the branch", list[min(p.at, len(list)-1)].GetName()}
	}
	var b strings.Builder
	for _, line := range p.run.lines {
		b.WriteString(line.Text + "\n")
	}
	return copied{"the plan preview", b.String()}
}

// command shows the same in a shell.
func (p *previewPane) command() []string {
	if p.run != nil {
		return []string{"plan-preview", "--branch", p.run.branch}
	}
	return []string{"plan-preview"}
}

func (p *previewPane) draw(width, height int, _ bool) string {
	if p.run != nil {
		return drawFound(p.search, "", width, height, func(width, height int) string {
			return p.run.draw(p.host, p.search.query, width, height)
		})
	}
	v := view.Branches{Theme: p.host.theme, List: p.list(), Selected: p.at, Now: p.host.now, Trouble: p.trouble}
	switch {
	case p.trouble != "":
		v.List = nil
	case !p.listed:
		v.Waiting = "reading the branches" + p.host.theme.Ellipsis
	case len(p.branches) == 0:
		v.Waiting = "The repository has no branch with a commit yet."
	default:
		v.Waiting = noMatch(p.look, len(p.branches), "branches")
	}
	note := fmt.Sprintf("%d of %d", len(v.List), len(p.branches))
	return drawFound(p.look, note, width, height, v.Draw)
}

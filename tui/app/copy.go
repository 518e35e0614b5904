// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// maxClipboard bounds what is sent to the terminal, in bytes: several terminals ignore longer requests.
const maxClipboard = 74_000

// copied is what a pane gives to copy.
type copied struct {
	// what names the content ("3 lines").
	what, content string
}

// copyable is a pane with something to copy; empty content is nothing at present.
type copyable interface{ copied() copied }

func (p *applicationsPane) copied() copied {
	app := p.chosen.application()
	return copied{"the id of " + app.GetName(), app.GetId()}
}

func (p *deploymentPane) copied() copied {
	return copied{"the id of the deployment", p.chosen.deployment().GetId()}
}

func (p *historyPane) copied() copied {
	list := p.list()
	if len(list) == 0 {
		return copied{}
	}
	return copied{"the id of the deployment", list[min(p.at, len(list)-1)].GetId()}
}

func (p *environmentPane) copied() copied {
	return copied{"the path of the repository", p.link.deck.Environment().GetRepository()}
}

func (p *resourcesPane) copied() copied {
	r := p.selected()
	if r == nil {
		return copied{}
	}
	name := r.GetKind() + "/" + r.GetName()
	if diff := (view.Drift{Resource: r}).Text(); diff != "" {
		return copied{"the drift of the resource", name + "\n" + diff}
	}
	return copied{"the name of the resource", name}
}

func (p *inspectorPane) copied() copied { return copied{"the id of the stage", p.stage} }

func (p *pluginsPane) copied() copied { return lineCopy(p.plugin().GetLastOutput()) }

func (p *logPane) copied() copied {
	lines, hit := p.view.Copied()
	c := lineCopy(lines)
	if hit {
		c.what = "the line of the hit"
	}
	return c
}

func lineCopy(lines []string) copied {
	switch len(lines) {
	case 0:
		return copied{}
	case 1:
		return copied{"1 line", lines[0]}
	}
	return copied{fmt.Sprintf("%d lines", len(lines)), strings.Join(lines, "\n") + "\n"}
}

// clipboard takes what the user copies.
type clipboard struct {
	host  *host
	toast *toast
}

// takePane copies what a pane gives.
func (b clipboard) takePane(p pane) tea.Cmd {
	var c copied
	if from, can := p.(copyable); can {
		c = from.copied()
	}
	if c.content == "" {
		return b.toast.note("there is nothing to copy here")
	}
	return b.take(c)
}

// takeCommand copies the command of the action that is selected in the palette.
func (b clipboard) takeCommand(top overlay) tea.Cmd {
	p, is := top.(*palette)
	if !is {
		return nil
	}
	command := p.command()
	if command == "" {
		return b.toast.note("there is no command that does the same")
	}
	return b.take(copied{command, command})
}

// take puts content into the clipboard of the terminal, or into a file where the terminal is known to have none.
func (b clipboard) take(c copied) tea.Cmd {
	reason := ""
	switch {
	case clipboardless(b.host.cfg.Environ):
		reason = "the terminal has no clipboard"
	case len(c.content) > maxClipboard:
		reason = "too long for the clipboard"
	default:
		return tea.Batch(tea.SetClipboard(c.content), b.toast.say("copied "+c.what, false))
	}
	path := b.host.cfg.Files.Copy
	return b.host.work.do(func(context.Context) tea.Msg {
		if path == "" {
			return actionMsg{err: fmt.Errorf("cannot copy %s: %s", c.what, reason)}
		}
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			return actionMsg{err: fmt.Errorf("cannot copy %s: %s: %s", c.what, reason, text.Line(err.Error()))}
		}
		return actionMsg{done: reason + "; saved " + c.what + " to " + text.Line(path)}
	})
}

// clipboardless reports whether the terminal is one of those that ignore requests for the clipboard (OSC 52).
func clipboardless(environ []string) bool {
	name := cmp.Or(lookup(environ, "TERM", ""), "dumb")
	return slices.Contains([]string{"dumb", "linux", "cons25", "vt100", "vt102", "vt220"}, name)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Manifests are the files of applications in a repository on this machine. Its methods are called in the background.
type Manifests interface {
	// Find returns the absolute path of the file of an application that is worth editing. The error is why there is
	// none, in one line.
	Find(e *deckv1.Environment, a *deckv1.Application) (file string, err error)
	// Diff returns how a file differs from the last commit; empty when it does not.
	Diff(ctx context.Context, file string) (string, error)
	// Check returns what is wrong with a file, one mistake in a line that begins with file:line; nothing for files in
	// which no mistake is found.
	Check(ctx context.Context, file string) []string
	// Commit commits a file alone.
	Commit(ctx context.Context, file, message string) error
}

// Messages of an edit, in their order.
type (
	manifestMsg struct{ app, file string }
	editedMsg   struct {
		manifestMsg
		err error
	}
	diffMsg struct {
		manifestMsg
		diff string
		// mistakes are those in the file.
		mistakes []string
	}
)

const (
	// maxDiff bounds the lines of a change on the screen; the smallest screen has room for them.
	maxDiff = 10
	// shownMistakes bounds those of a file on the screen; the change has the lines that they leave.
	shownMistakes = 3
)

// editor is the user's editor with its arguments; empty when none is set.
func (h *host) editor() []string {
	return strings.Fields(cmp.Or(lookup(h.cfg.Environ, "VISUAL", ""), lookup(h.cfg.Environ, "EDITOR", "")))
}

// leastEdit is the least time for which the editor has the terminal. Bubble Tea stops drawing next to it: when the
// screen comes back before that is done, it stays empty.
const leastEdit = 100 * time.Millisecond

// editor is the user's editor, or another program of the user, while it has the terminal.
type editor struct {
	*exec.Cmd
	clock clock
	// words are written first; empty for none.
	words string
}

// Run waits for the editor to end.
func (e *editor) Run() error {
	least := e.clock.after(leastEdit)
	_, err := io.WriteString(e.Stdout, e.words)
	if err == nil {
		err = e.Cmd.Run()
	}
	<-least
	return err
}

func (e *editor) SetStdin(r io.Reader)  { e.Stdin = r }
func (e *editor) SetStdout(w io.Writer) { e.Stdout = w }

// SetStderr gives the editor the terminal for its errors, too.
func (e *editor) SetStderr(io.Writer) { e.Stderr = e.Stdout }

// unedited is why no manifest of the application can be edited; empty when one can.
func (a *actions) unedited(app *deckv1.Application) string {
	switch {
	case app == nil:
		return "no application is selected"
	case a.host.cfg.Manifests == nil || a.link.deck.Environment().GetRepository() == "":
		return "its repository is not on this machine"
	case len(a.host.editor()) == 0:
		return "no editor is set; set EDITOR and start the UI again"
	}
	return ""
}

// edit looks for the manifest of the selected application.
func (a *actions) edit() tea.Cmd {
	app, environment, manifests := a.chosen.application(), a.link.deck.Environment(), a.host.cfg.Manifests
	return a.host.work.do(func(context.Context) tea.Msg {
		file, err := manifests.Find(environment, app)
		if err != nil {
			return actionMsg{err: fmt.Errorf("cannot edit %s: %s", app.GetName(), text.Line(err.Error()))}
		}
		return manifestMsg{app: app.GetName(), file: file}
	})
}

// take goes on with an edit.
func (a *actions) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case manifestMsg:
		words := append(a.host.editor(), msg.file)
		program := exec.CommandContext(a.host.work.ctx, words[0], words[1:]...)
		program.Env = a.host.cfg.Environ
		return tea.Exec(&editor{Cmd: program, clock: a.host.clock},
			func(err error) tea.Msg { return editedMsg{msg, err} })
	case editedMsg:
		return tea.Batch(tea.ClearScreen, a.compare(msg)) // the editor has drawn there
	case diffMsg:
		a.askCommit(msg)
	}
	return nil
}

// compare reads what the editor has changed.
func (a *actions) compare(msg editedMsg) tea.Cmd {
	manifests := a.host.cfg.Manifests
	return a.host.work.do(func(ctx context.Context) tea.Msg {
		if msg.err != nil {
			return actionMsg{err: fmt.Errorf("the editor failed: %s", text.Line(msg.err.Error()))}
		}
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		diff, err := manifests.Diff(ctx, msg.file)
		switch {
		case err != nil:
			return actionMsg{err: fmt.Errorf("cannot compare %s: %s", path.Base(msg.file), text.Line(err.Error()))}
		case diff == "":
			return actionMsg{done: "nothing has changed in " + text.Line(path.Base(msg.file))}
		}
		return diffMsg{msg.manifestMsg, diff, manifests.Check(ctx, msg.file)}
	})
}

// askCommit shows the change and asks whether to commit it.
func (a *actions) askCommit(msg diffMsg) {
	name := text.Line(path.Base(msg.file))
	wrong, again := mistakes(a.host.theme, msg), choice{keymap.Pick, "1", "edit it again", func() tea.Cmd {
		a.overlays.pop()
		return a.take(msg.manifestMsg)
	}}
	if a.link.deck.Environment().GetLive() {
		d := &dialog{host: a.host, overlays: a.overlays, scope: keymap.ConfirmDialog, title: name + " is saved",
			lines: append(append(wrong, changes(msg.diff, maxDiff-len(wrong))...),
				"Saved files are deployed without a commit."),
			choices: []choice{{keymap.No, "", "close", a.overlays.pop}}}
		if len(wrong) > 0 {
			d.choices = []choice{again, d.choices[0]}
		}
		a.overlays.push(d)
		return
	}
	message := "Edit " + name + " of " + msg.app
	d := &dialog{
		host: a.host, overlays: a.overlays, scope: keymap.ConfirmDialog,
		title: "Commit " + name + "?", lines: append(wrong, changes(msg.diff, maxDiff-len(wrong))...),
		choices: []choice{
			{keymap.Yes, "", "yes, commit it; piped deploys the commit", func() tea.Cmd {
				a.overlays.pop()
				return a.start(a.commit(msg.file, message))
			}},
			{keymap.No, "", "no, leave the change in the file", a.overlays.pop},
		},
		selected: 1,
	}
	if len(wrong) > 0 {
		d.choices[0].text = "commit it with its mistakes"
		d.choices, d.selected = append([]choice{again}, d.choices...), 0
	}
	a.overlays.push(d)
}

// mistakes are the lines about what is wrong with an edited file; none when nothing is.
func mistakes(th theme.Theme, msg diffMsg) []string {
	if len(msg.mistakes) == 0 {
		return nil
	}
	lines := []string{"It cannot be deployed as it is:"}
	for _, mistake := range msg.mistakes[:min(len(msg.mistakes), shownMistakes)] {
		lines = append(lines, th.Failed+" "+text.Line(mistake))
	}
	if more := len(msg.mistakes) - shownMistakes; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more; run: pipedeck validate", more))
	}
	return append(lines, "")
}

// changes are the lines of a diff that say what has changed, at most most.
func changes(diff string, most int) []string {
	var lines []string
	more := 0
	for line := range strings.Lines(text.Clean(diff)) {
		line = strings.TrimRight(line, "\n")
		head := strings.HasPrefix(line, "+++") || strings.HasPrefix(line, "---")
		switch {
		case head || !strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "-"):
		case len(lines) == most:
			more++
		default:
			lines = append(lines, line)
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more lines", more))
	}
	return append(lines, "")
}

func (a *actions) commit(file, message string) tea.Cmd {
	manifests := a.host.cfg.Manifests
	return a.host.work.do(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		if err := manifests.Commit(ctx, file, message); err != nil {
			return actionMsg{asked: true, err: fmt.Errorf("cannot commit: %s", text.Line(err.Error()))}
		}
		return actionMsg{asked: true, done: "committed: " + text.Line(message)}
	})
}

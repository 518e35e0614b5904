// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// maxOfferedCalls bounds the calls of the choice: the newest.
const maxOfferedCalls = 200

// What comes of a call.
type (
	// callMsg is a call with its messages.
	callMsg struct {
		call document.PluginCall
		err  error
	}
	// callCommandMsg is a command that makes the same call.
	callCommandMsg struct {
		command string
		err     error
	}
)

// callReader shows calls between piped and plugins. The commands of pipedeck about calls do the work.
type callReader struct{ actions *actions }

func callsOf(a *actions) callReader { return callReader{a} }

// choose opens the choice of a call about the stage that the inspector shows.
func (c callReader) choose(p *inspectorPane) {
	all := slices.Clone(p.run.GetCalls())
	slices.Reverse(all)
	all = slices.DeleteFunc(all, func(call *deckv1.PluginCall) bool { return call.GetId() == "" })
	all = all[:min(len(all), maxOfferedCalls)]
	a := c.actions
	d := dialog{
		host: a.host, overlays: a.overlays, scope: keymap.ListDialog, title: "A call about the stage",
		lines: []string{view.Count(len(all), "call") + ", the newest first: > by piped, < by the plugin. " +
			a.host.file.Map.Key(keymap.ListDialog, keymap.Search) + " finds one."},
		choices: []choice{{keymap.No, "", "none", a.overlays.pop}},
	}
	if len(all) == 0 {
		d.lines = []string{"piped remembers no call about this stage; it forgets them when it is restarted."}
	}
	for i, call := range all {
		one := choice{keymap.Pick, "", callWords(call), func() tea.Cmd {
			a.overlays.pop()
			return c.read(call.GetId())
		}}
		if i < maxTargets {
			one.key = fmt.Sprint(i + 1)
		}
		d.choices = append(d.choices, one)
	}
	a.overlays.push(newChooser(d))
}

// callWords is one call in a list.
func callWords(call *deckv1.PluginCall) string {
	arrow, end := "> ", call.GetCode()
	if call.GetDirection() == deckv1.PluginCall_DIRECTION_TO_PIPED {
		arrow = "< "
	}
	switch {
	case call.GetDuration() == nil:
		end = "runs"
	case call.GetFailed():
		end += " " + call.GetDetail()
	}
	return text.Line(call.GetStartedAt().AsTime().Local().Format("15:04:05.000") + "  " + arrow +
		path.Base(call.GetMethod()) + "  " + end)
}

// read reads a call with its messages.
func (c callReader) read(id string) tea.Cmd {
	run := c.actions.host.cfg.Command
	return c.actions.host.work.do(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, 2*callTimeout)
		defer cancel()
		out, _, err := run(ctx, []string{"plugin", "calls", id, "-o", "json"})
		if err != nil {
			return callMsg{err: err}
		}
		var list document.PluginCalls
		if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Calls) != 1 {
			return callMsg{err: errors.Join(errors.New("the command did not print one call"), err)}
		}
		return callMsg{call: list.Calls[0]}
	})
}

// take goes on with a call.
func (c callReader) take(msg tea.Msg, toast *toast) tea.Cmd {
	switch msg := msg.(type) {
	case callMsg:
		if msg.err != nil {
			return toast.say("cannot show the call: "+text.Line(msg.err.Error()), true)
		}
		c.actions.overlays.push(newCallView(c, msg.call, clipboard{c.actions.host, toast}))
	case callCommandMsg:
		if msg.err != nil {
			return toast.say("cannot copy the call: "+text.Line(msg.err.Error()), true)
		}
		return clipboard{c.actions.host, toast}.take(copied{"the command of grpcurl", msg.command})
	}
	return nil
}

// callView is the overlay with one call.
type callView struct {
	calls     callReader
	call      document.PluginCall
	clipboard clipboard
	lines     []string
	// top is the first line shown; page is how many lines were shown last, and all how many there are.
	top, page, all int
}

func newCallView(c callReader, call document.PluginCall, b clipboard) *callView {
	return &callView{calls: c, call: call, clipboard: b, lines: callLines(call)}
}

func (v *callView) where() keymap.Scope { return keymap.CallOverlay }

func (v *callView) act(action keymap.Action, _ string) tea.Cmd {
	a := v.calls.actions
	switch action {
	case keymap.Back:
		return a.overlays.pop()
	case keymap.Copy:
		return v.clipboard.take(copied{"the call", strings.Join(v.lines, "\n") + "\n"})
	case keymap.AsCommand:
		run, id := a.host.cfg.Command, v.call.ID
		return a.host.work.do(func(ctx context.Context) tea.Msg {
			ctx, cancel := context.WithTimeout(ctx, 2*callTimeout)
			defer cancel()
			out, _, err := run(ctx, []string{"plugin", "calls", id, "--as", "grpcurl"})
			return callCommandMsg{out, err}
		})
	case keymap.AsGoTest:
		return v.save("gotest", "_test.go")
	case keymap.AsRecording:
		return v.save("recording", ".jsonl")
	}
	n := steps(action)
	if action == keymap.PageUp || action == keymap.PageDown {
		n = n / 10 * max(1, v.page-1)
	}
	v.top = max(0, min(v.top+n, v.all-v.page))
	return nil
}

// save has the command write the calls of the stage to a file that is named for it. What the command says names the
// files.
func (v *callView) save(form, ending string) tea.Cmd {
	a, name := v.calls.actions, strings.ToLower(fileName(v.call.StageName+"-"+v.call.ID))
	if ending == "_test.go" {
		name = strings.NewReplacer("-", "_", ".", "_").Replace(name)
	}
	file := filepath.Join(a.host.cfg.Files.Saved, name+ending)
	return a.start(runCommand(a.host, "", "cannot save the call",
		[]string{"plugin", "calls", v.call.ID, "--as", form, "--file", file}))
}

func (v *callView) draw(width, height int) string {
	h := v.calls.actions.host
	key := func(action keymap.Action) string { return h.file.Map.Key(keymap.CallOverlay, action) }
	shown := view.Call{Theme: h.theme, Title: "Call " + path.Base(text.Line(v.call.Method)), Lines: v.lines, Top: v.top,
		Hint: fmt.Sprintf("%s copy, %s grpcurl, %s Go test, %s recording", key(keymap.Copy), key(keymap.AsCommand),
			key(keymap.AsGoTest), key(keymap.AsRecording))}
	width, height = overlaySize(width, height, 100)
	v.page, v.all = shown.Fit(width, height)
	v.top = max(0, min(v.top, v.all-v.page))
	shown.Top = v.top
	return shown.Draw(width, height)
}

// callLines are the facts of a call and its messages as JSON.
func callLines(c document.PluginCall) []string {
	var lines []string
	row := func(name, value string) {
		if value != "" {
			lines = append(lines, text.Line(fmt.Sprintf("%-11s %s", name, value)))
		}
	}
	from := "piped to plugin " + c.Plugin
	if c.Direction == strings.TrimPrefix(deckv1.PluginCall_DIRECTION_TO_PIPED.String(), "DIRECTION_") {
		from = "plugin " + c.Plugin + " to piped"
	}
	row("id", c.ID)
	row("call", from)
	row("method", c.Method)
	row("time", c.StartedAt)
	row("took", view.Duration(time.Duration(c.Millis*float64(time.Millisecond))))
	row("code", c.Code)
	row("detail", c.Detail)
	if c.Clipped {
		row("clipped", "a message was too long, so values are missing")
	}
	lines = append(lines, message("request", c.Request)...)
	return append(lines, message("answer", c.Response)...)
}

// message is one of a call, indented.
func message(name string, raw json.RawMessage) []string {
	var b bytes.Buffer
	if len(raw) == 0 || json.Indent(&b, raw, "", "  ") != nil {
		return nil
	}
	lines := []string{"", name + ":"}
	for line := range strings.Lines(b.String()) {
		lines = append(lines, text.Clean(strings.TrimSuffix(line, "\n")))
	}
	return lines
}

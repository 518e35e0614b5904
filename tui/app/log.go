// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// logPane is the log of the selected stage: what is shown of it, the reader that fills it, and the search in it.
type logPane struct {
	host   *host
	link   *link
	chosen *selection

	view   view.Log
	reader *stageLog
	// source is what the user wants to see, output what of it plugins write; nil for nothing.
	source sources
	output *pluginLines
	back   place
	// of is the deployment and the stage that the place in view belongs to.
	of [2]string
	// named is the stage that view has the name of.
	named *deckv1.Stage
	look  *find
	seek  search
	// anchor is where to go on when all lines are shown again.
	anchor anchor
}

func newLogPane(h *host, l *link, chosen *selection) *logPane {
	p := &logPane{host: h, link: l, chosen: chosen, look: newFind(h.theme, "/"), source: sources{chosen: chosen},
		view: view.Log{Theme: h.theme, Zone: h.now.Location(),
			Reading: view.Reading{Following: true}, Wrap: true, Least: logbuf.Debug,
			Search: view.Search{Hit: -1}}}
	p.look.purpose, p.look.kept, p.look.cleared = searching, p.startSearch, p.endSearch
	p.look.enter = "search"
	p.look.mark, p.look.changed = p.mark, p.typed
	return p
}

// hold keeps what the user reads on the screen until follow.
func (p *logPane) hold() {
	p.chosen.hold()
	p.view.Hold()
}

// follow goes back to what happens now.
func (p *logPane) follow() {
	p.chosen.release()
	p.view.Follow()
}

// following reports whether the screen goes where something happens.
func (p *logPane) following() bool { return p.view.Following && !p.chosen.pinned() }

// mark holds, and returns what undoes it.
func (p *logPane) mark() func() {
	selected, place := p.chosen.mark(), p.view.Mark()
	p.view.Search.Notice = ""
	p.hold()
	return func() {
		selected()
		place()
	}
}

func (p *logPane) finding() *find { return p.look }

// rewind forgets the place and the last search, for another log. A search that is being typed goes on: its letters
// would be keys otherwise.
func (p *logPane) rewind() {
	p.view.Rewind()
	p.stopSearch()
	p.look.bad = ""
	if !p.look.typing {
		p.look.query = ""
	}
}

// settle opens the log of the selected stage, or of all, when another one is open.
func (p *logPane) settle() tea.Cmd {
	if p.source.pod != (podOf{}) {
		return settlePod(p)
	}
	d, stage := p.chosen.deployment(), p.chosen.stage()
	merged := p.source.logSource != logSource{}
	if stage != p.named || stage == nil || merged { // one that changes is another object
		p.named, p.view.Stage = stage, view.StageName(d, stage)
		if merged && stage != nil {
			p.named, p.view.Stage = nil, p.source.name()
		}
	}
	p.view.Waiting = ""
	started := stage.GetStatus() > deckv1.StageStatus_STAGE_STATUS_NOT_STARTED || p.source.all && startedStages(d) > 0
	if stage == nil || !started || p.link.client == nil {
		p.without(stage)
		return nil
	}
	key := logKey{d.GetId(), stage.GetId(), p.source.logSource}
	version := stage.GetRetries()
	if p.source.all {
		key.stage, version = "", p.source.version()
	}
	if r := p.reader; r != nil && r.key == key && (r.attempt == version || !p.view.Complete && !p.source.all) {
		p.view.Waiting = "No line so far."
		if p.view.Complete {
			p.view.Waiting = "The stage wrote nothing."
		}
		return p.addOutput()
	}
	return p.open(key, version)
}

// without closes the log: there is none of the stage yet.
func (p *logPane) without(stage *deckv1.Stage) {
	if p.reader != nil {
		p.close()
		p.rewind()
		p.of = [2]string{}
	}
	if stage != nil {
		p.view.Waiting = "The stage has not started."
		if stage.GetRollback() {
			p.view.Waiting = "The stage runs only when the deployment fails."
		}
	}
}

func (p *logPane) open(key logKey, version int32) tea.Cmd {
	p.close()
	if of := [2]string{key.deployment, key.stage}; of != p.of {
		p.rewind()
		p.of = of
	} // else it is read again, and the user goes on where they were
	reader := newStageLog(p.host.work.ctx, p.host.clock.after, key, version)
	if key.source.all || key.source.output > 0 {
		reader.timeline, p.output = p.source.merge()
		reader.timeline.early = p.output.fresh()
	}
	p.reader, p.view.Buffer = reader, reader.buffer
	p.view.Waiting = "No line so far."
	if p.host.film != nil {
		return p.host.film.open(reader)
	}
	client, send := p.link.client, p.host.send
	return p.host.work.do(func(context.Context) tea.Msg {
		if err := reader.run(client, send); err != nil {
			return actionMsg{err: err}
		}
		return nil
	})
}

// addOutput adds what plugins have written since to a log that shows it.
func (p *logPane) addOutput() tea.Cmd {
	if p.output == nil {
		return nil
	}
	lines := p.output.fresh()
	if len(lines) == 0 {
		return nil
	}
	p.reader.timeline.write(p.reader.buffer, lines)
	return p.extend()
}

// close ends the reader, which closes its buffer.
func (p *logPane) close() {
	if p.reader != nil {
		p.reader.cancel()
	}
	p.stopSearch()
	p.view.Unselect()
	p.reader, p.output = nil, nil
	p.view.Buffer, p.view.Complete, p.view.Truncated, p.view.Trouble = nil, false, false, ""
}

// take takes the messages of readers and searches, and of a new connection.
func (p *logPane) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case connectedMsg:
		p.close() // and settle opens it again
	case eventsMsg:
		if p.host.cfg.Playback != nil && slices.ContainsFunc(msg.events, func(e *deckv1.Event) bool {
			return e.GetReset_() != nil // who plays the session has moved it
		}) {
			p.close()
		}
	case logMsg:
		return p.grow(msg)
	case retryLogMsg:
		if msg.log == p.reader {
			p.close()
		}
	case foundMsg:
		p.found(msg)
	case extendMsg:
		if msg.log == p.reader {
			// The time on the screen does not say that the pause is over: a recorded session may be paused.
			p.seek.waits, p.seek.since = false, time.Time{}
			return p.extend()
		}
	case tea.ModeReportMsg:
		// As Bubble Tea decides for its own drawing.
		if msg.Mode == ansi.ModeUnicodeCore && msg.Value != ansi.ModeNotRecognized &&
			msg.Value != ansi.ModePermanentlyReset {
			p.view.Widths = ansi.GraphemeWidth
		}
	}
	return nil
}

// grow takes news of a log. A log that cannot be read is tried again.
func (p *logPane) grow(msg logMsg) tea.Cmd {
	if msg.log != p.reader {
		return nil
	}
	p.view.Complete, p.view.Truncated = msg.complete, msg.truncated
	if line, found := p.back.find(p.reader.buffer); found {
		p.hold()
		p.view.Top(line)
	}
	if msg.err == nil {
		return p.extend()
	}
	p.view.Trouble = "cannot read the log: " + plain(msg.err)
	return p.host.later(logRetry, retryLogMsg{msg.log})
}

// wrap breaks long lines, or cuts them.
func (p *logPane) wrap() { p.view.Wrap, p.view.Left = !p.view.Wrap, 0 }

// slideStep is how many columns an unwrapped log moves at once.
const slideStep = 8

// slide moves an unwrapped log sideways; it reports whether the log is one.
func (p *logPane) slide(n int) bool {
	if !p.view.Wrap {
		p.hold()
		p.view.Slide(n * slideStep)
	}
	return !p.view.Wrap
}

func (p *logPane) move(action keymap.Action) {
	p.hold()
	if p.view.Select(steps(action), action == keymap.PageUp || action == keymap.PageDown) {
		return
	}
	switch action {
	case keymap.Up:
		p.view.Scroll(-1)
	case keymap.Down:
		p.view.Scroll(1)
	case keymap.PageUp:
		p.view.Page(-1)
	case keymap.PageDown:
		p.view.Page(1)
	case keymap.Top:
		p.view.Start()
	case keymap.Bottom:
		p.view.End()
	}
}

func (p *logPane) draw(width, height int, focused bool) string {
	p.prepare(focused)
	return p.view.Draw(width, height)
}

// prepare completes what the view draws.
func (p *logPane) prepare(focused bool) {
	p.view.Focused, p.view.Search.Line = focused, nil
	p.view.Held, p.view.News = p.chosen.pinned(), p.chosen.news()
	if hidden := p.hidden(); hidden != "" {
		p.view.Waiting = hidden
	}
	if p.look.shown() || p.view.Least > logbuf.Debug {
		p.view.Search.Line = p.bar
	}
}

// hidden says why none of the lines is shown, and which key shows them; "" while one is, or there is none.
func (p *logPane) hidden() string {
	if p.view.Buffer == nil {
		return ""
	}
	first, next := p.view.Buffer.Span()
	hidden, are := view.Count(next-first, "line"), " are"
	if next-first == 1 {
		are = " is"
	}
	search, least := &p.view.Search, p.view.Least
	switch {
	case next == first:
		return ""
	case search.Only && len(search.Hits) == 0 && search.Pattern.Empty():
		return hidden + are + " hidden: only those with a hit are shown, and nothing is looked for. " +
			p.host.file.Map.Key(keymap.Log, keymap.OnlyHits) + " shows all."
	case search.Only && len(search.Hits) == 0:
		return hidden + are + " hidden: none has a hit of " + search.Pattern.String() + ". " +
			p.host.file.Map.Key(keymap.Log, keymap.OnlyHits) + " shows all, esc ends the search."
	case search.Only || p.view.Buffer.Count(least) > 0:
		return ""
	case least == logbuf.Debug:
		return hidden + " of the script" + are + " folded: " + p.host.file.Map.Key(keymap.Log, keymap.Open) +
			" unfolds."
	}
	presses := int(logbuf.Failure-least) + 1
	again := ", pressed " + view.Count(presses, "time") + ","
	if presses == 1 {
		again = ""
	}
	return hidden + are + " hidden: none is of level " + levelNames[least] + " or above. " +
		p.host.file.Map.Key(keymap.Log, keymap.Level) + again + " shows all."
}

// bar is the line above the text: what is looked for, what was found, and the least level.
func (p *logPane) bar(width int) string {
	note := p.outcome()
	if p.view.Least > logbuf.Debug {
		level := "level " + levelNames[p.view.Least] + " and above"
		if !p.look.shown() {
			return text.Pad(" "+p.host.theme.Info.Render(level)+p.host.theme.Dim.Render("  L shows the others"), width,
				p.host.theme.Ellipsis)
		}
		note = strings.TrimSpace(note + "   " + level)
	}
	return p.look.draw(width, note)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/view"
)

// search is what is looked for in a log, and where it is.
type search struct {
	hits logbuf.Hits
	// run is the search under way; nil without one.
	run *searchRun
	// since is when the last search began; waits: the next one is due soon.
	since time.Time
	waits bool
}

// searchRun is one search in the background.
type searchRun struct {
	log *stageLog
	// from and forward say which hit to go to at its end; jump is false when the log has only grown.
	jump    bool
	from    int
	forward bool
	cancel  context.CancelFunc
	// share of the log searched, from 0 to 1.
	share float64
}

// foundMsg is the end of a search, or news of its progress.
type foundMsg struct {
	run  *searchRun
	hits logbuf.Hits
	done bool
	// share is that of the log searched so far.
	share float64
}

// extendMsg says that it is time to search what has come since.
type extendMsg struct{ log *stageLog }

// searchPause is the least time between two searches in a log that grows.
const searchPause = 500 * time.Millisecond

// anchor is a place in a log to go back to when all its lines are shown again.
type anchor struct {
	line int
	// hit: it was the hit where the search stood; set: it is known.
	hit, set bool
	// before is the first line in sight before only hits were shown.
	before int
}

// drop remembers the place, unless there is none in what is shown.
func (a *anchor) drop(v *view.Log) {
	if v.Search.Only && len(v.Search.Hits) > 0 {
		a.line, a.hit, a.set = v.Anchor()
	}
}

// showAll shows the lines without a hit again, and the reader stays at the same line.
func (a *anchor) showAll(v *view.Log) {
	a.drop(v)
	v.Search.Only = false
	switch {
	case !a.set:
		v.Top(a.before)
	case a.hit:
		v.Show(a.line)
	default:
		v.Top(a.line)
	}
}

// endSearch removes the marks of the last search.
func (p *logPane) endSearch() {
	if p.view.Search.Only {
		p.anchor.showAll(&p.view)
	}
	p.stopSearch()
	p.look.bad = ""
	p.view.Search.Pattern, p.view.Search.Hit, p.view.Search.Notice = logbuf.Pattern{}, -1, ""
}

// stopSearch ends the search under way and forgets what it has found.
func (p *logPane) stopSearch() {
	if p.seek.run != nil {
		p.seek.run.cancel()
	}
	p.seek = search{}
	p.view.Search.Hits = nil
}

// typed marks what is being typed. Nothing moves before it is kept.
func (p *logPane) typed() {
	p.hold()
	p.anchor.drop(&p.view)
	p.stopSearch()
	p.view.Search.Hit, p.view.Search.Notice = -1, ""
	pattern, err := logbuf.Compile(p.look.query)
	p.view.Search.Pattern, p.look.bad = pattern, ""
	if err != nil {
		p.look.bad = err.Error()
	}
}

// startSearch looks for what was typed.
func (p *logPane) startSearch() tea.Cmd {
	p.typed()
	if p.view.Search.Pattern.Empty() || p.reader == nil {
		return nil
	}
	return p.search(searchRun{jump: true, from: p.view.Place(), forward: true})
}

// search looks for the pattern in the background; a log can be long.
func (p *logPane) search(run searchRun) tea.Cmd {
	ctx, cancel := context.WithCancel(p.reader.ctx)
	run.log, run.cancel = p.reader, cancel
	p.seek.run, p.seek.since, p.seek.waits = &run, p.host.now, false
	pattern, hits, least := p.view.Search.Pattern, p.seek.hits, p.searched()
	return p.host.work.do(func(context.Context) tea.Msg {
		defer cancel()
		hits = run.log.buffer.Search(ctx, pattern, least, hits, func(share float64) {
			p.host.send(foundMsg{run: &run, share: share})
		})
		return foundMsg{run: &run, hits: hits, done: true}
	})
}

// searched is the least level of the lines that are searched: also those that are folded.
func (p *logPane) searched() logbuf.Level {
	if p.view.Least == logbuf.Debug {
		return logbuf.Source
	}
	return p.view.Least
}

// found takes news of the search under way.
func (p *logPane) found(msg foundMsg) {
	run := p.seek.run
	if msg.run != run || run == nil || run.log != p.reader {
		return
	}
	if !msg.done {
		run.share = msg.share
		return
	}
	p.seek.run, p.seek.hits = nil, msg.hits
	p.view.Search.Hits = msg.hits.Lines
	if run.jump {
		p.visit(msg.hits.At(run.from, run.forward))
	}
}

// visit goes to a hit.
func (p *logPane) visit(at int) {
	if at < 0 {
		return
	}
	line := p.seek.hits.Lines[at]
	p.hold()
	if folded := p.view.Buffer.Lines(line, 1); len(folded) > 0 && folded[0].Level < p.view.Least {
		p.view.Least = logbuf.Source // unfolds
	}
	p.view.Search.Hit = line
	p.view.Show(line)
}

// searchNext goes on from the last hit.
func (p *logPane) searchNext(forward bool) tea.Cmd {
	if p.view.Search.Pattern.Empty() || p.reader == nil {
		p.view.Search.Notice = "nothing to search for: press / first"
		return nil
	}
	from := p.view.Search.Hit
	switch {
	case from < 0:
		from = p.view.Place()
	case forward:
		from++
	default:
		from--
	}
	if run := p.seek.run; run != nil && !run.jump {
		run.jump, run.from, run.forward = true, from, forward
		return nil
	}
	if p.seek.run == nil {
		p.visit(p.seek.hits.At(from, forward))
	}
	return nil
}

// extend searches what the log has grown by.
func (p *logPane) extend() tea.Cmd {
	if p.view.Search.Pattern.Empty() || p.seek.run != nil || p.look.typing || p.reader == nil {
		return nil
	}
	if wait := searchPause - p.host.now.Sub(p.seek.since); wait > 0 {
		if p.seek.waits {
			return nil
		}
		p.seek.waits = true
		return p.host.later(wait, extendMsg{p.reader})
	}
	return p.search(searchRun{})
}

// outcome says what the search has found so far.
func (p *logPane) outcome() string {
	hits, run := p.seek.hits, p.seek.run
	switch {
	case p.look.typing, p.view.Search.Pattern.Empty():
		return ""
	case run != nil && run.jump:
		return fmt.Sprintf("searching%s %d%%, esc stops", p.host.theme.Ellipsis, int(100*run.share))
	case len(hits.Lines) == 0:
		next := p.reader.next()
		return fmt.Sprintf("no hit in %s", view.Count(next, "line"))
	}
	total := view.Count(len(hits.Lines), "hit")
	if len(hits.Lines) >= logbuf.MaxHits {
		total = "the first " + total
	}
	if p.view.Search.Hit < 0 {
		return total
	}
	return fmt.Sprintf("%d of %s", hits.At(p.view.Search.Hit, true)+1, total)
}

// next is the index of the line after the last one.
func (l *stageLog) next() int {
	if l == nil {
		return 0
	}
	_, next := l.buffer.Span()
	return next
}

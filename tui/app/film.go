// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Film shows the UI without a terminal and without a clock: it takes what the deck API has sent together with the time
// of that, and its screen depends on nothing else. Nothing runs next to it. It is used by one goroutine, which closes
// it.
type Film struct {
	model *model
	reel  Reel
	now   time.Time
	// due are messages for later, the earliest first.
	due []dueMsg
	// sent are messages for now.
	sent []tea.Msg
	log  *filmedLog
	// watch is that of the resources on the screen, which has so much of them; nil for none.
	watch *resourceWatch
	lives map[string]*deckv1.Resource
}

// Reel is what the deck API streams besides its events, at the present time of a film.
type Reel interface {
	// Log is the log of a stage. complete says that the stage has ended.
	Log(deployment, stage string) (blocks []*deckv1.LogBlock, truncated, complete bool)
	// Resources are those of an application, by their ids, and how they differ from those that are known.
	Resources(application string, known map[string]*deckv1.Resource) (map[string]*deckv1.Resource,
		*deckv1.WatchResourcesResponse)
}

// dueMsg is a message and its time.
type dueMsg struct {
	at  time.Time
	msg tea.Msg
}

// filmedLog is the log that is on the screen, of which so many blocks are in its buffer.
type filmedLog struct {
	*stageLog
	taken              int
	complete, followed bool
}

// NewFilm returns the UI in a terminal of so many columns and rows at a time, before anything has come. Of the
// configuration, Client answers single requests, and there is neither Playback nor Guide: a story moves the focus as it
// did.
func NewFilm(ctx context.Context, cfg Config, columns, rows int, at time.Time, reel Reel) (*Film, error) {
	look, err := theme.FromEnvironment(cfg.Environ)
	if err != nil {
		return nil, err
	}
	f := &Film{reel: reel, now: at}
	m := newModel(cfg, look, newWork(ctx), clock{now: func() time.Time { return f.now }, after: never})
	m.host.film, m.host.send = f, func(msg tea.Msg) { f.sent = append(f.sent, msg) }
	f.model = m
	deck, err := cfg.Client(ctx)
	if err != nil {
		return nil, err
	}
	f.run(m.Init())
	f.take(tea.WindowSizeMsg{Width: columns, Height: rows})
	f.take(connectedMsg{deck})
	return f, f.err()
}

// never is the clock's wait: what has to wait is due at a time of the film.
func never(time.Duration) <-chan time.Time { return nil }

// Show goes on to a time, with what has come since the last one. The events are not changed.
func (f *Film) Show(at time.Time, events []*deckv1.Event) error {
	for len(f.due) > 0 && !f.due[0].at.After(at) {
		next := f.due[0]
		f.due = f.due[1:]
		f.now = next.at
		f.take(next.msg)
	}
	f.now = at
	clean := make([]*deckv1.Event, len(events))
	for i, event := range events {
		clean[i] = proto.CloneOf(event)
		text.CleanMessage(clean[i])
	}
	f.take(eventsMsg{clean})
	f.grow()
	f.live()
	return f.err()
}

// Next is the time at which the screen changes by itself; false when it stays as it is.
func (f *Film) Next() (time.Time, bool) {
	if len(f.due) == 0 {
		return time.Time{}, false
	}
	return f.due[0].at, true
}

// Screen is what the terminal shows: lines with escape sequences for colours and attributes.
func (f *Film) Screen() string { return f.model.View().Content }

// Light reports whether the screen is for a terminal with a light background.
func (f *Film) Light() bool { return f.model.host.look.Light }

// Close ends the film.
func (f *Film) Close() error {
	f.model.host.work.stop()
	return f.closeLog()
}

func (f *Film) err() error { return f.model.leaving.err }

// take gives the model a message, and then those that come of it.
func (f *Film) take(msg tea.Msg) {
	_, cmd := f.model.Update(msg)
	f.run(cmd)
	for len(f.sent) > 0 {
		next := f.sent[0]
		f.sent = f.sent[1:]
		f.take(next)
	}
}

// run runs a command to its end.
func (f *Film) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, each := range msg {
			f.run(each)
		}
	default:
		f.sent = append(f.sent, msg)
	}
}

// later has a message come after a wait.
func (f *Film) later(wait time.Duration, msg tea.Msg) {
	next := dueMsg{f.now.Add(wait), msg}
	at, _ := slices.BinarySearchFunc(f.due, next, func(a, b dueMsg) int {
		if a.at.After(b.at) {
			return 1
		}
		return -1 // behind those of the same time
	})
	f.due = slices.Insert(f.due, at, next)
}

// open shows the log of a stage in place of the one before.
func (f *Film) open(l *stageLog) tea.Cmd {
	if err := f.closeLog(); err != nil {
		return func() tea.Msg { return actionMsg{err: fmt.Errorf("close a log: %w", err)} }
	}
	f.log = &filmedLog{stageLog: l}
	return func() tea.Msg { return f.fresh() }
}

func (f *Film) closeLog() error {
	if f.log == nil {
		return nil
	}
	closed := f.log
	f.log = nil
	closed.cancel()
	return closed.buffer.Close()
}

// follow shows the resources of an application in place of those before.
func (f *Film) follow(w *resourceWatch) tea.Cmd {
	f.watch, f.lives = w, nil
	return func() tea.Msg { return f.changed(true) }
}

// live brings the resources on the screen up to date.
func (f *Film) live() {
	if f.watch != nil && f.watch.ctx.Err() == nil {
		if msg := f.changed(false); msg != nil {
			f.take(msg)
		}
	}
}

// changed is what has changed of the resources; nil when nothing has, unless it is the first look.
func (f *Film) changed(first bool) tea.Msg {
	now, response := f.reel.Resources(f.watch.application, f.lives)
	f.lives = now
	if !first && len(response.GetResources())+len(response.GetRemoved()) == 0 {
		return nil
	}
	response = proto.CloneOf(response)
	text.CleanMessage(response)
	return resourcesMsg{watch: f.watch, response: response}
}

// grow brings the log on the screen up to date.
func (f *Film) grow() {
	if msg := f.fresh(); msg != nil {
		f.take(msg)
	}
}

// fresh puts what the log has grown by into its buffer; nil when it has not.
func (f *Film) fresh() tea.Msg {
	l := f.log
	if l == nil || l.ctx.Err() != nil {
		return nil
	}
	blocks, truncated, complete := f.reel.Log(l.key.deployment, l.key.stage)
	if l.followed && len(blocks) == l.taken && complete == l.complete {
		return nil
	}
	var lines []logbuf.Line
	for _, block := range blocks[min(l.taken, len(blocks)):] {
		lines = logbuf.AppendBlock(lines, block)
	}
	l.buffer.Append(lines...)
	l.taken, l.complete, l.followed = len(blocks), complete, true
	return logMsg{log: l.stageLog, complete: complete, truncated: truncated}
}

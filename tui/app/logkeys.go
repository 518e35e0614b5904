// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/view"
)

// act does what a key of the log asks for; known reports whether it is one.
func (p *logPane) act(action keymap.Action, toast *toast) (cmd tea.Cmd, known bool) {
	switch action {
	case keymap.Follow:
		p.follow()
	case keymap.Level:
		return p.nextLevel(), true
	case keymap.Merge:
		p.back.keep(&p.view)
		return toast.note(p.source.turnAll()), true
	case keymap.PluginOutput:
		p.back.keep(&p.view)
		return toast.note(p.source.turnOutput()), true
	case keymap.SelectLines:
		return p.selectLines(toast), true
	case keymap.OnlyHits:
		return p.onlyHits(toast), true
	case keymap.Times:
		p.view.Times = (p.view.Times + 1) % (view.NoTimes + 1)
		return toast.note("times: " + p.timesName()), true
	case keymap.FirstError:
		if !p.firstError() {
			return toast.note("no error in this log so far"), true
		}
	case keymap.Save:
		if p.reader == nil {
			return toast.note("no log to save: the stage has not started"), true
		}
		return p.save(), true
	default:
		return nil, false
	}
	return nil, true
}

// selectLines begins a selection of lines at the hit, or at the first line in sight; again, it ends it.
func (p *logPane) selectLines(toast *toast) tea.Cmd {
	if p.view.Selecting() {
		p.view.Unselect()
		return nil
	}
	if p.reader.next() == 0 {
		return toast.note("there is no line to select")
	}
	p.hold()
	p.view.BeginSelection()
	return toast.note("the arrows select lines, " + p.host.key(keymap.Copy) + " copies them, esc ends")
}

// onlyHits leaves the lines without a hit out, or shows them again.
func (p *logPane) onlyHits(toast *toast) tea.Cmd {
	switch {
	case p.view.Search.Only:
		p.anchor.showAll(&p.view)
		return nil
	case p.view.Search.Pattern.Empty() || p.reader == nil:
		return toast.note("nothing to filter by: press / first")
	}
	p.hold()
	p.anchor = anchor{before: p.view.Place()}
	p.view.Search.Only = true
	return nil
}

// levelNames are those that L names.
var levelNames = map[logbuf.Level]string{logbuf.Normal: "info", logbuf.Warn: "warn", logbuf.Failure: "error"}

// nextLevel shows the lines of the next level and above; after the last one, all.
func (p *logPane) nextLevel() tea.Cmd {
	p.hold()
	switch p.view.Least {
	case logbuf.Failure:
		p.view.Least = logbuf.Debug
	case logbuf.Source, logbuf.Debug:
		p.view.Least = logbuf.Normal
	default:
		p.view.Least++
	}
	// Other lines are shown, so others are hits.
	p.stopSearch()
	p.view.Search.Hit = -1
	return p.extend()
}

// fold shows or hides the text of scripts.
func (p *logPane) fold() {
	switch p.view.Least {
	case logbuf.Source:
		p.hold()
		p.view.Least = logbuf.Debug
	case logbuf.Debug:
		p.hold()
		p.view.Least = logbuf.Source
	}
}

func (p *logPane) timesName() string {
	switch p.view.Times {
	case view.TimeSinceStart:
		return "since the first line"
	case view.NoTimes:
		return "not shown"
	}
	zone, _ := p.host.now.Zone()
	return "of the day, " + zone
}

// firstError goes to the first line of an error; it reports whether there is one.
func (p *logPane) firstError() bool {
	if p.reader == nil {
		return false
	}
	lines := p.reader.buffer.Select(0, 1, logbuf.Failure)
	if len(lines) == 0 {
		return false
	}
	p.hold()
	p.view.Show(lines[0].Number)
	return true
}

// save writes the log to a new file, each line as it came.
func (p *logPane) save() tea.Cmd {
	reader := p.reader
	name := fileName(p.chosen.application().GetName() + "-" + p.view.Stage)
	return p.host.work.do(func(ctx context.Context) tea.Msg {
		path, lines, err := saveLog(ctx, reader.buffer, p.host.cfg.Files.Saved, name)
		if err != nil {
			return actionMsg{err: fmt.Errorf("cannot save the log: %w", err)}
		}
		return actionMsg{done: "saved " + view.Count(lines, "line") + " to " + path}
	})
}

// fileName is a name without what has a meaning in paths and shells.
func fileName(name string) string {
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.'
		return !plain
	}), "-")
}

// maxSaved bounds how many files of one name are kept next to each other.
const maxSaved = 1000

// saveLog writes the lines of a log to a new file in dir that only the user can read.
func saveLog(ctx context.Context, buffer *logbuf.Buffer, dir, name string) (path string, lines int, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", 0, err
	}
	var file *os.File
	for i := 1; i < maxSaved; i++ {
		path = filepath.Join(dir, name+".log")
		if i > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d.log", name, i))
		}
		file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", 0, err
	}
	lines, err = writeLines(ctx, buffer, file)
	return path, lines, errors.Join(err, file.Close())
}

func writeLines(ctx context.Context, buffer *logbuf.Buffer, file *os.File) (int, error) {
	out := bufio.NewWriterSize(file, 1<<16)
	from, next := buffer.Span()
	written := 0
	for from < next && ctx.Err() == nil {
		lines := buffer.Lines(from, min(1000, next-from))
		if len(lines) == 0 {
			break
		}
		for _, line := range lines {
			_, _ = out.WriteString(line.Raw) // Flush returns the error
			_ = out.WriteByte('\n')
		}
		from += len(lines)
		written += len(lines)
	}
	return written, errors.Join(ctx.Err(), out.Flush())
}

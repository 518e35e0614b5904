// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"

	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Bounds of the logs that a report keeps: of each stage, and stages in all.
const (
	tailLines  = 40
	tailBytes  = 8 << 10
	tailStages = 5000
)

// Logs keeps the last lines of the logs of stages. The zero value is empty. Not safe for concurrent use.
type Logs struct {
	tails map[[2]string][]string
	order [][2]string
}

// Add takes the lines of a change that is a block of a log, and ignores other changes.
func (l *Logs) Add(c reader.Change) {
	if c.Kind != reader.Log {
		return
	}
	key := [2]string{c.Log.GetDeploymentId(), c.Log.GetStageId()}
	if l.tails == nil {
		l.tails = map[[2]string][]string{}
	}
	if _, known := l.tails[key]; !known {
		l.order = append(l.order, key)
		if len(l.order) > tailStages {
			delete(l.tails, l.order[0])
			l.order = l.order[1:]
		}
	}
	lines := l.tails[key]
	for one := range strings.SplitSeq(strings.TrimRight(text.Clean(c.Log.GetText()), "\n"), "\n") {
		lines = append(lines, line.Cut(one, tailBytes/8))
	}
	size := 0
	from := len(lines)
	for from > 0 && len(lines)-from < tailLines && size+len(lines[from-1]) < tailBytes {
		from--
		size += len(lines[from])
	}
	l.tails[key] = append([]string(nil), lines[from:]...)
}

// Tail returns the last lines of the log of a stage; none for a nil Logs.
func (l *Logs) Tail(deployment, stage string) []string {
	if l == nil {
		return nil
	}
	return l.tails[[2]string{deployment, stage}]
}

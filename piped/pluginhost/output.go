// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/clip"
	"github.com/pipedeck/pipedeck/system/owned"
)

const (
	keptLines     = 50       // as many as agentv1.Plugin.last_output may hold
	maxLineLength = 4 << 10  // bytes; the rest of a longer line is dropped
	maxFileLine   = 64 << 10 // bytes; the same for the file
	maxLogFile    = 4 << 20  // bytes; as much again is kept in <name>.1
)

// output keeps the last lines of a plugin and writes all of them to a bounded file. It lives longer than a process;
// each process writes to it through its own stream. Lines are masked before they go anywhere.
type output struct {
	mask  Mask
	mu    sync.Mutex
	lines []string
	ends  []time.Time // of lines
	total int         // lines ever ended
	now   func() time.Time
	path  string
	file  *owned.Log
	// unfinished are the streams with a line that has no end yet.
	unfinished []*stream
	// echo gets each line, too; nil for no one.
	echo func(line string)
}

// newOutput writes to <dir>/<plugin>.log as well unless dir is empty.
func newOutput(dir, plugin string, mask Mask) *output {
	if mask == nil {
		mask = func(line string, _ bool) string { return line }
	}
	o := &output{mask: mask, now: time.Now}
	if dir != "" {
		o.path = filepath.Join(dir, fileName(plugin)+".log")
	}
	return o
}

// begin is called at the start of a process, which writes to the stream.
func (o *output) begin() *stream { return &stream{output: o} }

// last returns the kept lines, oldest first, with unfinished ones at the end.
func (o *output) last() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines, _ := o.lastLocked()
	return lines
}

// lastLocked also returns how many of the lines have not ended.
func (o *output) lastLocked() (lines []string, unfinished int) {
	lines = slices.Clone(o.lines)
	for _, s := range o.unfinished {
		lines = append(lines, s.rest()...)
	}
	unfinished = len(lines) - len(o.lines)
	return lines[max(0, len(lines)-keptLines):], min(unfinished, keptLines)
}

// status fills in what is kept of the output, and when it came.
func (o *output) status(s *agentv1.Plugin) {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines, unfinished := o.lastLocked()
	s.LastOutput, s.OutputLines = lines, int64(o.total)
	ended := len(lines) - unfinished
	for _, at := range o.ends[len(o.ends)-ended:] {
		s.LastOutputAt = append(s.LastOutputAt, timestamppb.New(at))
	}
}

func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.unfinished) > 0 {
		o.unfinished[0].endLine(false)
	}
	if o.file != nil {
		o.file.Close()
		o.file = nil
	}
}

// keep adds a line that has ended.
func (o *output) keep(line string) {
	o.total++
	o.lines, o.ends = append(o.lines, line), append(o.ends, o.now())
	if o.echo != nil {
		o.echo(line)
	}
	if len(o.lines) > keptLines {
		o.lines = slices.Delete(o.lines, 0, len(o.lines)-keptLines)
		o.ends = slices.Delete(o.ends, 0, len(o.ends)-keptLines)
	}
}

// leftOut says at the end of a line how much of it is missing.
func leftOut(bytes int) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf("… (%d bytes left out)", bytes)
}

func (o *output) toFile(p []byte) {
	if o.path == "" {
		return
	}
	if o.file == nil {
		if err := os.MkdirAll(filepath.Dir(o.path), 0o700); err != nil {
			return
		}
		file, err := owned.OpenLog(o.path, maxLogFile)
		if err != nil {
			return
		}
		o.file = file
	}
	_, _ = o.file.Write(p)
}

// shorten keeps what fits into a kept line, and says how much of it is missing; the cut never lies within a secret,
// which has been masked. Of a line that rewrites itself with carriage returns the last state is kept, as a terminal
// shows it: in an error message, they would wipe out what stands before them.
func shorten(line string, missing int) string {
	line = line[strings.LastIndexByte(line, '\r')+1:]
	if len(line) <= maxLineLength && missing == 0 {
		return line
	}
	const room = 64 // for the note
	kept := clip.Bytes(line, maxLineLength-room)
	return kept + leftOut(len(line)-len(kept)+missing)
}

// clean makes a line fit for protobuf strings. Escape sequences stay: whoever draws it removes them.
func clean(line []byte) string {
	return strings.ToValidUTF8(strings.TrimRight(string(line), "\r"), "\uFFFD")
}

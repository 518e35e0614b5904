// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"bytes"
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

// output keeps the last lines of a plugin and writes all of them to a bounded file. It is an io.Writer
// for the bytes of stdout and stderr, and lives longer than one process. Lines are masked before they go
// anywhere.
type output struct {
	mask    Mask
	mu      sync.Mutex
	lines   []string
	ends    []time.Time // of lines
	total   int         // lines ever ended
	now     func() time.Time
	partial []byte
	cut     int // bytes of the line that came after partial was full
	path    string
	file    *owned.Log
	fatal   crashLines
	// followers get each line, too, while there are any.
	followers []*stackLines
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

// Write never fails: a full disk must not stop a plugin.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		taken := min(maxFileLine-len(o.partial), len(line))
		o.partial = append(o.partial, line[:taken]...)
		o.cut += len(line) - taken
		if whole {
			o.endLine(true)
		}
		rest = after
	}
	return len(p), nil
}

// last returns the kept lines, oldest first, with an unfinished one at the end.
func (o *output) last() []string { return o.since(0) }

// status fills in what is kept of the output, and when it came.
func (o *output) status(s *agentv1.Plugin) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s.LastOutput, s.OutputLines = o.sinceLocked(0), int64(o.total)
	ended := len(s.LastOutput)
	if len(o.partial) > 0 {
		ended--
	}
	for _, at := range o.ends[len(o.ends)-ended:] {
		s.LastOutputAt = append(s.LastOutputAt, timestamppb.New(at))
	}
}

// begin is called at the start of a process. It returns the place of its first line, for since.
func (o *output) begin() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fatal = crashLines{}
	return o.total
}

// crash returns the first lines of the fatal error that the process wrote, and its stack; or nothing.
func (o *output) crash() ([]string, panicStack) {
	o.mu.Lock()
	defer o.mu.Unlock()
	stack := o.fatal.stack
	stack.frames = slices.Clone(stack.frames)
	return slices.Clone(o.fatal.lines), stack
}

// since returns those of the kept lines that were written after a mark.
func (o *output) since(mark int) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sinceLocked(mark)
}

func (o *output) sinceLocked(mark int) []string {
	lines := slices.Clone(o.lines[max(0, len(o.lines)-(o.total-mark)):])
	if len(o.partial) > 0 {
		lines = append(lines, shorten(o.mask(clean(o.partial), true), o.cut))
	}
	return lines[max(0, len(lines)-keptLines):]
}

// follow has f get each line until the function that it returns is called.
func (o *output) follow(f *stackLines) (stop func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.followers = append(o.followers, f)
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.followers = slices.DeleteFunc(o.followers, func(other *stackLines) bool { return other == f })
	}
}

func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.partial) > 0 {
		o.endLine(false)
	}
	if o.file != nil {
		o.file.Close()
		o.file = nil
	}
}

func (o *output) endLine(whole bool) {
	text := o.mask(clean(o.partial), !whole || len(o.partial) == maxFileLine)
	o.toFile([]byte(text + leftOut(o.cut) + "\n"))
	if text != "" {
		o.total++
		short := shorten(text, o.cut)
		o.lines, o.ends = append(o.lines, short), append(o.ends, o.now())
		o.fatal.see(short)
		for _, f := range o.followers {
			f.see(short)
		}
		if o.echo != nil {
			o.echo(short)
		}
		if len(o.lines) > keptLines {
			o.lines = slices.Delete(o.lines, 0, len(o.lines)-keptLines)
			o.ends = slices.Delete(o.ends, 0, len(o.ends)-keptLines)
		}
	}
	o.partial, o.cut = o.partial[:0], 0
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

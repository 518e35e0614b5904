// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"bytes"
	"slices"
)

// stream is what one process of a plugin writes: an io.Writer for the bytes of stdout and stderr. Processes overlap,
// since one replaces another while that still runs; each has its own stream, so that the last lines of one are never
// taken for those of another. Its lines go on to the output of the plugin.
type stream struct {
	output *output
	// The rest is guarded by output.mu.
	lines   []string // the last keptLines of them
	partial []byte
	cut     int // bytes of the line that came after partial was full
	fatal   crashLines
	// quitting is set before piped sends a signal at which the process writes its stacks: they are no last lines.
	quitting bool
	stacks   stackLines
}

// Write never fails: a full disk must not stop a plugin.
func (s *stream) Write(p []byte) (int, error) {
	s.output.mu.Lock()
	defer s.output.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		taken := min(maxFileLine-len(s.partial), len(line))
		s.partial = append(s.partial, line[:taken]...)
		s.cut += len(line) - taken
		if whole {
			s.endLine(true)
		}
		rest = after
	}
	if o := s.output; len(s.partial) > 0 && !slices.Contains(o.unfinished, s) {
		o.unfinished = append(o.unfinished, s)
	}
	return len(p), nil
}

// end is called when the process has written its last.
func (s *stream) end() {
	s.output.mu.Lock()
	defer s.output.mu.Unlock()
	if len(s.partial) > 0 {
		s.endLine(false)
	}
}

func (s *stream) endLine(whole bool) {
	o := s.output
	text := o.mask(clean(s.partial), !whole || len(s.partial) == maxFileLine)
	o.toFile([]byte(text + leftOut(s.cut) + "\n"))
	if text != "" {
		short := shorten(text, s.cut)
		o.keep(short)
		s.keep(short)
	}
	s.partial, s.cut = s.partial[:0], 0
	o.unfinished = slices.DeleteFunc(o.unfinished, func(other *stream) bool { return other == s })
}

func (s *stream) keep(line string) {
	if s.quitting {
		s.stacks.see(line)
		return
	}
	s.lines = append(s.lines, line)
	s.lines = slices.Delete(s.lines, 0, max(0, len(s.lines)-keptLines))
	s.fatal.see(line)
}

// rest is the line that has no end yet, in a slice; an empty one for none. The caller holds output.mu.
func (s *stream) rest() []string {
	if len(s.partial) == 0 {
		return nil
	}
	return []string{shorten(s.output.mask(clean(s.partial), true), s.cut)}
}

// last returns the last lines of the process, oldest first, with an unfinished one at the end. What our SDK writes
// about the life of each process is left out.
func (s *stream) last() []string {
	if s == nil { // a process that piped has not started
		return nil
	}
	s.output.mu.Lock()
	defer s.output.mu.Unlock()
	lines := append(slices.Clone(s.lines), s.rest()...)
	return slices.DeleteFunc(lines[max(0, len(lines)-keptLines):], ofLife)
}

// crash returns the first lines of the fatal error that the process wrote, and its stack; or nothing.
func (s *stream) crash() ([]string, panicStack) {
	s.output.mu.Lock()
	defer s.output.mu.Unlock()
	stack := s.fatal.stack
	stack.frames = slices.Clone(stack.frames)
	return slices.Clone(s.fatal.lines), stack
}

// quit is called before piped ends the process with a signal at which it writes its stacks.
func (s *stream) quit() {
	if s == nil { // as last
		return
	}
	s.output.mu.Lock()
	defer s.output.mu.Unlock()
	s.quitting = true
}

// written returns the lines since quit.
func (s *stream) written() stackLines {
	if s == nil { // as last
		return stackLines{}
	}
	s.output.mu.Lock()
	defer s.output.mu.Unlock()
	return stackLines{lines: slices.Clip(s.stacks.lines), bytes: s.stacks.bytes}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
)

// maxCaptured bounds what is kept of the output of a process, in bytes.
const maxCaptured = 4 << 20

// capture keeps what a process prints. It is safe for concurrent use.
type capture struct {
	mu    sync.Mutex
	kept  []byte
	total int64
	to    io.Writer
	// line is what has come of a line that has not ended: lines of several processes are not mixed.
	line []byte
}

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += int64(len(p))
	c.kept = append(c.kept, p[:min(len(p), maxCaptured-len(c.kept))]...)
	if c.to == nil {
		return len(p), nil
	}
	c.line = append(c.line, p...)
	const longest = 64 << 10
	if end := bytes.LastIndexByte(c.line, '\n') + 1; end > 0 || len(c.line) > longest {
		if end == 0 {
			end = len(c.line)
		}
		whole := c.line[:end]
		c.line = slices.Clone(c.line[end:])
		if _, err := c.to.Write(whole); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (c *capture) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.kept)
}

// end passes a last line on that has no end.
func (c *capture) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.to != nil && len(c.line) > 0 {
		_, _ = c.to.Write(append(c.line, '\n')) // as good as the writes before
		c.line = nil
	}
}

// bytes is how much has been printed.
func (c *capture) bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// lastLine is the last line that is not blank.
func (c *capture) lastLine() string {
	lines := strings.Split(strings.TrimSpace(c.text()), "\n")
	return clip(strings.TrimSpace(lines[len(lines)-1]))
}

// lastWords is why the process has ended, as far as it has printed it: the panic of a Go program, or the module that a
// program does not find, rather than the end of its stack.
func (c *capture) lastWords() string {
	if missing, _ := missingModule(c.text()); missing != "" {
		return clip(missing)
	}
	if thrown := thrownInNode(c.text()); thrown != "" {
		return thrown
	}
	for line := range strings.Lines(c.text()) {
		for _, begin := range []string{"panic: ", "fatal error: "} {
			if strings.HasPrefix(line, begin) {
				return firstLine(line)
			}
		}
	}
	return c.lastLine()
}

// sharedWriter serialises writes of several processes.
type sharedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *sharedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// clip shortens a text of the plugin to what a report can show.
func clip(text string) string {
	const most = 400
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return clip(line)
}

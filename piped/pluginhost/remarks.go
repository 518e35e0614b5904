// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import "strings"

// remarks are what is to be said of a plugin that runs without a problem.
type remarks struct {
	// abandoned says why piped ended the last process that did not end by itself; empty after another end.
	abandoned string
	// detached says which process of its author has ended, or was left, and that piped's own runs again; empty after
	// another end.
	detached string
	// awaited says which process the plugin waits for that its author starts, or why it cannot be used.
	awaited string
	note    string // the detail of a running plugin that has no other
}

// setNote sets what a running plugin is shown with, from its next state on.
func (c *condition) setNote(note string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note = note
}

// setAbandoned notes why piped ended a process, shown with the next ones; empty when it has no meaning any more.
func (c *condition) setAbandoned(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.abandoned, c.detached = why, ""
}

// setDetached is setAbandoned for a process that its author has started.
func (c *condition) setDetached(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.abandoned, c.detached = "", what
}

// setAwaited reports whether that is news.
func (c *condition) setAwaited(why string) bool {
	c.mu.Lock()
	news := c.awaited != why
	c.awaited = why
	c.mu.Unlock()
	if news {
		c.changes.notify()
	}
	return news
}

// runningDetail is what is to be said of a plugin that runs without a problem.
func (c *condition) runningDetail() string {
	switch {
	case len(c.leaving) > 0:
		return "running stages finish on the process before: " + strings.Join(c.leaving, ", ")
	case c.process != nil && c.process.attachment != nil:
		return "the process that its author has started works for piped: " + c.process.attachment.name()
	case c.detached != "":
		return c.detached + "; " + attachAgain(c.plugin)
	case c.abandoned != "":
		return c.abandoned
	case c.awaited != "":
		return c.awaited
	default:
		return c.note
	}
}

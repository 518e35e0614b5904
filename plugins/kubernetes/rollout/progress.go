// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"time"
)

const (
	// lineEvery bounds how often the progress of one workload is logged.
	lineEvery = time.Second
	// reminderEvery is how often a wait without any progress says that it still is one.
	reminderEvery = 30 * time.Second
	// maxSaid bounds the problems of one workload that are logged when they appear; those at the end are in the error.
	maxSaid = 10
)

// note keeps how far the workload is, and logs it unless something was logged just now; then flush does later.
func (t *tracker) note(line string) {
	if line == t.progress {
		return
	}
	t.progress, t.unlogged = line, true
	t.flush(time.Now())
}

// flush writes the last progress when it is due, or a reminder of it when there was none for long.
func (t *tracker) flush(now time.Time) {
	switch {
	case t.unlogged && !now.Before(t.logged.Add(lineEvery)):
		t.log.Infof("%s: %s", t.name(), t.progress)
	case !t.unlogged && t.progress != "" && !now.Before(t.reminder()):
		t.log.Infof("%s: still %s after %s", t.name(), t.withProblems(t.progress), now.Sub(t.begun).Round(time.Second))
	default:
		return
	}
	t.unlogged, t.logged = false, now
}

// nextLine is when flush has something to write.
func (t *tracker) nextLine() time.Time {
	if t.unlogged {
		return t.logged.Add(lineEvery)
	}
	return t.reminder()
}

// reminder is when it has been silent for long.
func (t *tracker) reminder() time.Time {
	if t.logged.After(t.begun) {
		return t.logged.Add(reminderEvery)
	}
	return t.begun.Add(reminderEvery)
}

// say reports a problem once.
func (t *tracker) say(p problem) {
	if id := p.id(); !t.said[id] && len(t.said) < maxSaid {
		t.said[id] = true
		t.log.Infof("%s: %s", t.name(), p.text)
	}
}

// wake is when the tracker has to look by itself, without a change; zero is never.
func (t *tracker) wake() time.Time {
	var next time.Time
	times := []time.Time{t.nextDeadline(), t.nextLine(), t.hintAt}
	if !t.readyAt.IsZero() {
		times = append(times, t.readyAt.Add(settleTime))
	}
	for _, at := range times {
		if !at.IsZero() && (next.IsZero() || cmp.Compare(at.UnixNano(), next.UnixNano()) < 0) {
			next = at
		}
	}
	return next
}

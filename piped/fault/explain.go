// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"slices"
	"strings"
)

// Outcome is how an attempt at a stage ended.
type Outcome int

const (
	// Passed is an end that is not a failure.
	Passed Outcome = iota
	// Failed is a failure, a timeout or a cancel.
	Failed
	// Exited is an end of the plugin's process.
	Exited
)

// Explain begins the reason of an attempt with what was injected. A failure and the end of a process have only what
// caused them: otherwise a real failure next to a fault would be taken for one on purpose.
func (a *Attempt) Explain(outcome Outcome, reason string) string {
	return explain(a.texts(outcome, reason), reason)
}

// Explain begins a reason with what has happened in calls to a cluster, unless the plugin could not say what has.
func (g *Given) Explain(reason string) string {
	if g == nil || !g.answered {
		return reason
	}
	return explain(g.happened, reason)
}

func explain(texts []string, reason string) string {
	if len(texts) == 0 || strings.HasPrefix(reason, Injected) {
		return reason
	}
	said := Injected + strings.Join(texts, "; ")
	if reason == "" {
		return said
	}
	return said + ": " + reason
}

// texts are the actions that explain the outcome.
func (a *Attempt) texts(outcome Outcome, reason string) (texts []string) {
	if a == nil {
		return nil
	}
	a.set.mu.Lock()
	defer a.set.mu.Unlock()
	for i, one := range a.actions {
		if a.happened[i] && (outcome == Passed || a.caused(i, outcome, reason)) {
			texts = append(texts, one.text)
		}
	}
	return texts
}

// caused reports whether an action that has happened caused a failure or the end of a process.
func (a *Attempt) caused(i int, outcome Outcome, reason string) bool {
	switch a.actions[i].kind {
	case kill:
		return outcome == Exited
	case setStatus:
		return outcome == Failed
	case unavailable: // of what its plugin says: it may have coped with the failed calls, and failed for another reason
		return outcome == Failed && (reason == "" || strings.Contains(reason, Injected))
	}
	return i == a.ended
}

// note says that an action has happened, and whether the attempt ended during it.
func (a *Attempt) note(i int, ended bool) {
	a.set.mu.Lock()
	defer a.set.mu.Unlock()
	a.happened[i] = true
	if ended {
		a.ended = i
	}
}

// rollback ends the types of stages that a rollback adds: a plugin names them only when it plans one.
const rollback = "ROLLBACK"

// Known reports whether a rule for a stage can match one of these types and ids. A rule without a stage matches, and so
// does one for a stage of a rollback.
func Known(stage string, known []string) bool {
	return stage == "" || strings.HasSuffix(stage, rollback) || slices.Contains(known, stage)
}

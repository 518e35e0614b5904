// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import (
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Build is what distinguishes the builds of a plugin.
type Build struct {
	// Hash is the beginning of the SHA-256 of the program.
	Hash string `json:"hash"`
	// BuiltAt is when the file of the program was written; left out for one that was fetched.
	BuiltAt string `json:"built_at,omitempty" format:"date-time"`
	// Version is that of its author, else of its module or its commit; empty for none.
	Version string `json:"version"`
}

func newBuild(b *deckv1.PluginBuild) *Build {
	if b.GetHash() == "" {
		return nil
	}
	return &Build{b.GetHash(), moment(b.GetBuiltAt()), b.GetVersion()}
}

// Lives are the processes that a plugin has had, and what runs now.
type Lives struct {
	// Build is what runs; left out when there is no process.
	Build *Build `json:"build,omitempty"`
	// Reloads counts the processes of a changed program that took the place of a running one.
	Reloads int32 `json:"reloads"`
	// Crashes counts the ends that no one had asked for.
	Crashes int32 `json:"crashes"`
	// InjectedEnds counts the ends by faults that a user wanted.
	InjectedEnds int32 `json:"injected_ends"`
	// AbandonedEnds counts the ends by piped because a stage went on though it was stopped.
	AbandonedEnds int32 `json:"abandoned_ends"`
	// Exits are the last five of all three, oldest first.
	Exits []Exit `json:"exits"`
}

// Exit is the end of a plugin process that no one had asked for, by a fault that a user wanted, or by piped because a
// stage went on though it was stopped.
type Exit struct {
	// At is when it ended.
	At string `json:"at" format:"date-time"`
	// Reason is how it ended, or why piped has ended it.
	Reason string `json:"reason"`
	// Error is the first line of its fatal error, else the last line that it wrote.
	Error string `json:"error"`
	// Place is the first place of its stack in the author's code, such as stage.go:31; empty where that is not known.
	Place string `json:"place"`
	// Stack is the top of its stack; empty where it wrote none.
	Stack []string `json:"stack"`
	// Build is what ran.
	Build *Build `json:"build,omitempty"`
	// PID was the id of the process.
	PID int32 `json:"pid"`
	// Uptime is how long it ran, in seconds.
	Uptime float64 `json:"uptime"`
	// Injected says that a fault that a user wanted has ended it.
	Injected bool `json:"injected"`
	// Abandoned says that piped has ended it because a stage went on though it was stopped.
	Abandoned bool `json:"abandoned"`
}

func newExit(e *deckv1.PluginExit) Exit {
	return Exit{
		At: moment(e.GetAt()), Reason: e.GetReason(), Error: e.GetError(), Place: e.GetPlace(),
		Stack: List(e.GetStack()), Build: newBuild(e.GetBuild()), PID: e.GetPid(),
		Uptime:   e.GetUptime().AsDuration().Round(time.Millisecond).Seconds(),
		Injected: e.GetInjected(), Abandoned: e.GetAbandoned(),
	}
}

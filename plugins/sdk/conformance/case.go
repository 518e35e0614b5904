// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strings"
	"time"
)

// Capability is what a case looks at.
type Capability string

// The capabilities, in the order of reports.
const (
	Start       Capability = "start"
	Stages      Capability = "stages"
	Health      Capability = "health"
	Planning    Capability = "planning"
	QuickSync   Capability = "quick sync"
	Versions    Capability = "versions"
	Strategy    Capability = "strategy"
	Execution   Capability = "execution"
	Cancel      Capability = "cancel"
	Concurrency Capability = "concurrency"
	Log         Capability = "log"
	Metadata    Capability = "metadata"
	Secrets     Capability = "secrets"
	Malformed   Capability = "malformed requests"
	Limits      Capability = "limits"
	Piped       Capability = "piped"
	Process     Capability = "process"
	LiveState   Capability = "live state"
	Drift       Capability = "drift"
	PlanPreview Capability = "plan preview"
	Deploying   Capability = "deployments"
	Schema      Capability = "schema"
)

// Case is one thing that a plugin has to do.
type Case struct {
	// ID names the case in reports and for --only; it does not change.
	ID string
	// Title is what must hold.
	Title string
	// Why is what piped or users experience otherwise.
	Why string
	// Next is what the author of a plugin that fails can do.
	Next       string
	Capability Capability

	// run returns nil when the case has passed, a verdict, or why it has failed.
	run func(*probe) error
	// last has the case run after all others: it looks at what they have left.
	last bool
}

// State is how a case ended.
type State string

const (
	Passed State = "passed"
	Failed State = "failed"
	// Noted is for what the plugin may do, and its author has to know: a stage that ended in failure.
	Noted State = "noted"
	// NotApplicable is for what the plugin does not have, and need not, or what cannot be seen here.
	NotApplicable State = "n/a"
)

// Result is how a case ended for a plugin.
type Result struct {
	Case
	State State
	// Detail is what was seen, in one paragraph. It has no configured secret when Options.Mask knows them.
	Detail string
	Took   time.Duration
}

// verdict is an outcome of a case that is neither passed nor failed.
type verdict struct {
	state State
	text  string
}

func (v *verdict) Error() string { return v.text }

// skip says why a case is not applicable.
func skip(format string, args ...any) error {
	return &verdict{NotApplicable, fmt.Sprintf(format, args...)}
}

// note is for what the plugin may do.
func note(format string, args ...any) error { return &verdict{Noted, fmt.Sprintf(format, args...)} }

// seeEnds ends the detail of a case that looks at a stage that succeeds, and has none.
const seeEnds = "see execution.ends"

// NeedsSuccess is whether the detail of a case says that it was not looked at because the stage does not succeed.
func NeedsSuccess(detail string) bool { return strings.HasSuffix(detail, seeEnds) }

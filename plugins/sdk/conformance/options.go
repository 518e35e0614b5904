// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Options say which plugin is tested, and how.
type Options struct {
	// Program is the plugin's; Settings is its entry of the piped configuration.
	Program  string
	Settings sdk.Settings
	// Only are patterns of the ids of cases; none is all cases.
	Only []string
	// Stage is the stage to execute; empty is the first one that the plugin names.
	Stage string
	// With is the JSON of the stage's "with"; empty is {}. A stage with options has to succeed, one without may fail.
	With string
	// Accept returns why With cannot be for a stage, before the stage is executed; nil accepts all.
	Accept func(stage string) error
	// Source is the application at the deployed commit; nil is one of the stage alone, without files. The plugin may
	// write into its directory.
	Source *common.DeploymentSource
	// ApplicationID is the id of the application in all requests; empty is application-1. Plugins mark with it what
	// they deploy: with one id, two applications on one platform would have each other's resources.
	ApplicationID string
	// RunLimit is how long the stage may run before it is cancelled.
	RunLimit time.Duration
	// Secrets are values of Settings and With that no one may see.
	Secrets []string
	// Mask hides them in all that the results say; nil hides nothing.
	Mask func(string) string
	// Output is where the program's own output goes; nil is nowhere.
	Output io.Writer
	// Begun and Done, when set, are called when a case begins and ends, by several goroutines.
	Begun func(Case)
	Done  func(Result)
	// Bounds replaces bounds that are not 0.
	Bounds Bounds
}

// Bounds are how long a plugin is waited for.
type Bounds struct {
	// Start bounds the time until a program answers, or ends because it cannot start.
	Start time.Duration
	// Answer bounds the answer to a question that needs no work.
	Answer time.Duration
	// Stop bounds how long a cancelled stage may go on.
	Stop time.Duration
	// Grace bounds how long a process may go on after SIGTERM: piped kills it then. With Stop alone, it is the same.
	Grace time.Duration
	// Quiet is how long nothing may come after the end of a stage for it to count as the end.
	Quiet time.Duration
}

func (b Bounds) complete() Bounds {
	return Bounds{
		Start: cmp.Or(b.Start, 30*time.Second), Answer: cmp.Or(b.Answer, 30*time.Second),
		Stop: cmp.Or(b.Stop, 15*time.Second), Grace: cmp.Or(b.Grace, b.Stop, 30*time.Second),
		Quiet: cmp.Or(b.Quiet, 1500*time.Millisecond),
	}
}

// settle bounds how long a platform may take to show what was deployed.
func (b Bounds) settle() time.Duration { return b.Answer / 3 }

// UnknownStageError says that Options.Stage is none that the plugin names.
type UnknownStageError struct {
	Stage string
	// Stages are those that it names.
	Stages []string
}

func (e *UnknownStageError) Error() string {
	return fmt.Sprintf("the plugin has no stage %s, only %s", e.Stage, strings.Join(e.Stages, ", "))
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/system/spelling"
)

// linesInError is how much of a plugin's output an error repeats.
const linesInError = 5

// ExitError says how a plugin process ended without being asked to.
type ExitError struct {
	Plugin string
	// Code is the exit code, -1 when a signal ended the process.
	Code int
	// Signal is the name of the signal that ended the process; empty when it exited.
	Signal string
	// Uptime is the time between start and end.
	Uptime time.Duration
	// Requested is set when piped stopped the process, for a restart or its own end.
	Requested bool
	// LastOutput holds the last lines of stdout and stderr, oldest first, without what our SDK says of start and stop.
	LastOutput []string
	// Reason is why piped ended the process by itself ("it did not answer …"); empty when it did not.
	Reason string
	// Abandoned is set with Reason when piped ended the process for one of its stages, which went on though it was
	// stopped. The other calls to it failed through no fault of the plugin.
	Abandoned bool
	// Injected is set with Reason when a user wanted the end as a fault.
	Injected bool
	// Detached names the process when piped had not started it: it works for piped no more, whether it runs or not.
	Detached string
	// Exhausted says what had run out, when that has ended the process: memory, or threads; empty otherwise.
	Exhausted string
	// Crash holds the first lines of a panic, of another fatal error of the Go runtime, or of an uncaught error of
	// Python or Node.
	Crash []string
	// Place is the first place of its stack in the code of its author, such as "stage.go:31"; empty where not known.
	Place string
	// blamed is set when the end is counted against the inputs of its calls, not against the plugin.
	blamed bool
}

func (e *ExitError) Error() string {
	how := e.How()
	switch {
	case e.Detached != "":
		return fmt.Sprintf("plugin %q is DETACHED: %s", e.Plugin, how)
	case e.Reason != "":
		return fmt.Sprintf("plugin %q %s", e.Plugin, how)
	case len(e.Crash) > 0:
		line := readable(e.Crash[0]) // the stack is read with the exits of the plugin
		if e.Place != "" {
			line += " at " + e.Place
		}
		return fmt.Sprintf("plugin %q %s: %s", e.Plugin, how, line)
	}
	switch {
	case len(e.LastOutput) > 0:
		return fmt.Sprintf("plugin %q %s; its last output: %s", e.Plugin, how, inError(e.LastOutput))
	case e.Signal == "" && e.Exhausted == "" && !e.Requested:
		return fmt.Sprintf("plugin %q %s without a message", e.Plugin, how) // as os.Exit does
	default:
		return fmt.Sprintf("plugin %q %s; it wrote no output", e.Plugin, how)
	}
}

// inError is how an error repeats the last lines of the output.
func inError(lines []string) string {
	var shown []string
	for _, line := range lines[max(0, len(lines)-linesInError):] {
		shown = append(shown, readable(line))
	}
	return strings.Join(shown, " | ")
}

// How names the manner of the end: "exited with code 3".
func (e *ExitError) How() string {
	switch {
	case e.Detached != "" && e.Reason != "":
		return fmt.Sprintf("piped has left the process %s, which its author has started, because %s", e.Detached,
			e.Reason)
	case e.Detached != "" && e.Requested:
		return fmt.Sprintf("piped has left the process %s, which its author has started", e.Detached)
	case e.Detached != "":
		return fmt.Sprintf("the process %s, which its author has started, has ended", e.Detached)
	case e.Reason != "":
		return "was ended by piped because " + e.Reason
	case e.Requested:
		return "was stopped by piped"
	case e.Exhausted != "" && e.Signal == "SIGKILL":
		return "was ended by the kernel because " + e.Exhausted
	case e.Exhausted != "":
		return fmt.Sprintf("exited with code %d because %s", e.Code, e.Exhausted)
	case e.Signal != "":
		return "was ended by signal " + e.Signal
	default:
		return fmt.Sprintf("exited with code %d", e.Code)
	}
}

// detachedNote is what a plugin is shown with that runs piped's own program again.
func (e *ExitError) detachedNote(at time.Time) string {
	return fmt.Sprintf("DETACHED at %s: %s; piped's own program runs again", at.Format(time.TimeOnly), e.How())
}

func attachAgain(plugin string) string {
	return "start yours again, or run: pipedeck plugin detach " + plugin
}

// GRPCStatus lets callers of a plugin treat its end like that of any other peer.
func (e *ExitError) GRPCStatus() *status.Status { return status.New(codes.Unavailable, e.Error()) }

// NotRunningError is what a call to a plugin without a process gives.
type NotRunningError struct {
	Plugin string
	// State in words ("has failed", "is starting").
	State string
	// Detail says why and what to do.
	Detail string
	// Begun reports that the call had reached the plugin.
	Begun bool
}

func (e *NotRunningError) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("plugin %q %s", e.Plugin, e.State)
	}
	return fmt.Sprintf("plugin %q %s: %s", e.Plugin, e.State, e.Detail)
}

// GRPCStatus makes the error Unavailable.
func (e *NotRunningError) GRPCStatus() *status.Status {
	return status.New(codes.Unavailable, e.Error())
}

// SourcesChangedError is given for a stage that was prepared for a process of the plugin that another one has
// replaced, which inspects more. The stage was not called.
type SourcesChangedError struct{ Plugin, Stage string }

func (e *SourcesChangedError) Error() string {
	return fmt.Sprintf(
		"plugin %q was replaced by one that reads other sources for stage %s: prepare them and try again", e.Plugin,
		e.Stage,
	)
}

// UnknownStageError is given for a stage that no plugin owns.
type UnknownStageError struct {
	Stage string
	// Known names the stages of all plugins that have started at least once.
	Known []string
	// Stageless names the plugins that run and name no stages.
	Stageless []string
	// Down reports which plugins never started; the stage may be one of theirs.
	Down []error
}

func (e *UnknownStageError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no plugin owns stage %q", e.Stage)
	if near := spelling.Nearest(e.Stage, e.Known); near != "" {
		fmt.Fprintf(&b, "; did you mean %s?", near)
	}
	if len(e.Known) > 0 {
		known := slices.Clone(e.Known)
		slices.Sort(known)
		fmt.Fprintf(&b, " (known stages: %s)", strings.Join(slices.Compact(known), ", "))
	}
	for _, name := range e.Stageless {
		fmt.Fprintf(&b, "; plugin %q names no stages (FetchDefinedStages): this is a mistake in the plugin", name)
	}
	for _, err := range e.Down {
		fmt.Fprintf(&b, "; %s", err)
	}
	if len(e.Known) == 0 && len(e.Down) == 0 && len(e.Stageless) == 0 {
		b.WriteString("; add the plugin that owns it to the piped configuration")
	}
	return b.String()
}

// UnknownPluginError is given for a plugin that the piped configuration does not list.
type UnknownPluginError struct {
	Name  string
	Known []string
}

func (e *UnknownPluginError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no plugin is named %q", e.Name)
	if near := spelling.Nearest(e.Name, e.Known); near != "" {
		fmt.Fprintf(&b, "; did you mean %s?", near)
	}
	fmt.Fprintf(&b, " (plugins in the piped configuration: %s)", strings.Join(e.Known, ", "))
	return b.String()
}

// StageConflictError is given for a stage that several plugins claim. PipeCD v1 lets the last one win.
type StageConflictError struct {
	Stage   string
	Plugins []string
}

func (e *StageConflictError) Error() string {
	return fmt.Sprintf(
		"stage %q is claimed by the plugins %s: list it under plugins[].stages of the one that should have it in the "+
			"piped configuration, or remove the others",
		e.Stage,
		strings.Join(e.Plugins, " and "),
	)
}

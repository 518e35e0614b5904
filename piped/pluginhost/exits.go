// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/clip"
)

const (
	// keptExits is how many ends of a plugin its author can read.
	keptExits = 5
	// maxExitError bounds the line of an exit that says what was wrong, in bytes.
	maxExitError = 1 << 10
)

// exits are the ends of a plugin's processes that no one had asked for, by faults that a user wanted, and by piped
// because a stage ignored that it was stopped. Those of an earlier piped are among the last, but not counted.
type exits struct {
	count               int32
	injected, abandoned int32 // by faults, and by piped; count has the others
	// last are at most keptExits, oldest first. Readers share them: they do not change.
	last []*agentv1.PluginExit
}

func (e *exits) add(exit *agentv1.PluginExit) {
	switch {
	case exit.GetInjected():
		e.injected++
	case exit.GetAbandoned():
		e.abandoned++
	default:
		e.count++
	}
	e.last = append(slices.Clip(e.last), exit)
	e.last = e.last[max(0, len(e.last)-keptExits):]
}

// died notes the end of a process. why is the error of a start that has failed; nil for another end. An end that
// someone has asked for is not noted: by a restart, by a changed binary, by the end of piped, or that of a process that
// its author has started.
func (s *supervisor) died(proc *process, why error) {
	exit := proc.ending.exit
	if proc.attachment != nil {
		return
	}
	reason := exit.How()
	if exit.Requested {
		if why == nil || isRequest(why) {
			return
		}
		var permanent permanentError
		if reason = fmt.Sprintf("was ended by piped: %s", why); errors.As(why, &permanent) {
			reason = fmt.Sprintf("did not answer within %s of its start", s.options.StartTimeout)
		}
	}
	noted := &agentv1.PluginExit{
		At: timestamppb.New(s.options.Clock.Now()), Reason: reason, Error: errorLine(&proc.ending),
		Stack: proc.ending.stack.shown(), Build: proc.watch.build.Load(), Pid: int32(proc.pid()),
		Place:    exit.Place,
		Uptime:   durationpb.New(exit.Uptime.Round(time.Millisecond)),
		Injected: exit.Injected, Abandoned: exit.Abandoned,
	}
	var last []*agentv1.PluginExit
	s.condition.change(func() {
		s.condition.exits.add(noted)
		last = s.condition.exits.last
	})
	s.ends.write(last)
}

// isRequest reports whether a start ended because a user, a changed binary or the end of piped wanted that.
func isRequest(why error) bool {
	for _, request := range []error{errRestart, errRenewed, errAbandoned, errStopped, context.Canceled} {
		if errors.Is(why, request) {
			return true
		}
	}
	return false
}

// errorLine is the line of the output that says what was wrong: that of a fatal error, also where piped was faster to
// end the process, else the last one, unless piped has ended the process: nothing was wrong then by its own account.
func errorLine(e *ending) string {
	line := e.stack.message
	if last := e.exit.LastOutput; line == "" && e.exit.Reason == "" && len(last) > 0 {
		line = readable(last[len(last)-1])
	}
	return clip.Bytes(line, maxExitError)
}

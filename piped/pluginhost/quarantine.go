// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// strikeLimit is how often a process may end during calls with one input before these are refused.
	strikeLimit = 3
	// maxStrikes bounds the inputs that are remembered.
	maxStrikes = 1000
	// suspectPatience is how long a call with an input under suspicion waits for another one to end. A stage may wait
	// for days, so it is not waited for longer.
	suspectPatience = 30 * time.Second
)

// strikes is how often processes of one build have ended during calls with an input, with no answer since.
type strikes struct {
	subject subject
	build   string
	count   int
	last    string
	// replaced is set while another input about the same was answered since: no one needs this one any more.
	replaced bool
}

func (s *strikes) quarantined() bool { return s.count >= strikeLimit }

// suspicion holds the inputs during which processes of a plugin have ended.
type suspicion struct {
	plugin string
	timer  clock.Timer
	// changes announces what is quarantined and what not any more.
	changes *broadcast

	mu sync.Mutex
	// build is that of the process that new calls go to; ends of others do not count.
	build   string
	strikes map[inputKey]*strikes
	order   []inputKey
	// turn is held during a call with an input under suspicion: calls that may each be at fault do not run together.
	turn chan struct{}
	// running is whose turn it is.
	running subject
}

func newSuspicion(plugin string, timer clock.Timer, changes *broadcast) *suspicion {
	return &suspicion{
		plugin: plugin, timer: timer, changes: changes, strikes: map[inputKey]*strikes{}, turn: make(chan struct{}, 1),
	}
}

// InputQuarantinedError is given for a call with an input during which processes of this build have ended several
// times. The call was not made; calls with other inputs are.
type InputQuarantinedError struct {
	Plugin, Build string
	Crashes       int
	// Last is how the last process ended.
	Last string
}

func (e *InputQuarantinedError) Error() string {
	return fmt.Sprintf("plugin %q (build %s) ended %d times while it did just this, so this is not tried again: %s; "+
		"fix the plugin or change the stage, or try once more after: pipedeck restart %s",
		e.Plugin, e.Build, e.Crashes, e.Last, e.Plugin)
}

// GRPCStatus makes the error one that is not tried again.
func (e *InputQuarantinedError) GRPCStatus() *status.Status {
	return status.New(codes.FailedPrecondition, e.Error())
}

// admit refuses a call with a quarantined input, and lets one that is under suspicion wait for its turn, of which note
// gets the reason. Leave is called after the call.
func (s *suspicion) admit(ctx context.Context, in input, note func(string)) (leave func(), err error) {
	known, again := s.known(in)
	if again {
		s.changes.notify()
	}
	switch {
	case known == nil:
		return func() {}, nil
	case known.quarantined():
		return func() {}, &InputQuarantinedError{
			Plugin: s.plugin, Build: shortBuild(known.build), Crashes: known.count, Last: known.last,
		}
	}
	select {
	case s.turn <- struct{}{}:
		return s.begin(in), nil
	default:
	}
	note(s.whyWait())
	select {
	case s.turn <- struct{}{}:
		return s.begin(in), nil
	case <-s.timer.After(suspectPatience):
		return func() {}, nil
	case <-ctx.Done():
		return func() {}, status.FromContextError(ctx.Err()).Err()
	}
}

// begin notes whose turn it is until the call ends.
func (s *suspicion) begin(in input) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = in.subject
	return func() { <-s.turn }
}

// whyWait says what a call waits for.
func (s *suspicion) whyWait() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("Waits until %s ends, at most %s: a process of plugin %s ended during both, and whichever is "+
		"the cause must not interrupt the other again", s.running, suspectPatience, s.plugin)
}

// known returns a copy of the strikes of an input that is asked for; nil for none. Again is set when it is quarantined
// and had been replaced by another one.
func (s *suspicion) known(in input) (known *strikes, again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.strikes[in.key]
	if found == nil {
		return nil, false
	}
	again, found.replaced = found.replaced && found.quarantined(), false
	copied := *found
	return &copied, again
}

// shortBuild is the part of a binary's path that stands for its content.
func shortBuild(path string) string { return path[strings.LastIndexByte(path, '-')+1:] }

// serves says which build new calls go to. The strikes of another one are forgotten.
func (s *suspicion) serves(build string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.build = build
	maps.DeleteFunc(s.strikes, func(_ inputKey, known *strikes) bool { return known.build != build })
}

// acquit forgets the strikes of an input, because the plugin has answered. Other inputs about the same were replaced by
// this one.
func (s *suspicion) acquit(in input) {
	s.mu.Lock()
	changed := false
	if known := s.strikes[in.key]; known != nil {
		changed = known.quarantined()
		delete(s.strikes, in.key)
	}
	for _, known := range s.strikes {
		if known.subject.id == in.subject.id && !known.replaced {
			known.replaced = true
			changed = changed || known.quarantined()
		}
	}
	s.mu.Unlock()
	if changed {
		s.changes.notify()
	}
}

// pardon forgets all strikes.
func (s *suspicion) pardon() {
	s.mu.Lock()
	clear(s.strikes)
	s.order = nil
	s.mu.Unlock()
	s.changes.notify()
}

// blame counts the end of a process against the inputs of its calls. When some were under suspicion before, it was one
// of those that were most often. It returns false when the process had no calls, was stopped on purpose or was ended
// because of a stage that did not stop.
func (s *suspicion) blame(proc *process) bool {
	inputs, exit := proc.inputs.running(), proc.ending.exit
	if len(inputs) == 0 || exit.Requested || exit.Abandoned {
		return false
	}
	if s.count(inputs, proc.binary(), exit.Error()) {
		s.changes.notify()
	}
	return true
}

// count returns whether there is a new quarantine.
func (s *suspicion) count(inputs []input, build, how string) (quarantined bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if build != s.build {
		return false // it has been replaced
	}
	most := 0
	for _, in := range inputs {
		if known := s.strikes[in.key]; known != nil {
			most = max(most, known.count)
		}
	}
	for _, in := range inputs {
		known := s.strikes[in.key]
		if known == nil {
			known = &strikes{subject: in.subject, build: build}
		}
		if known.count == most {
			known.count++
			known.last, known.replaced = how, false
			s.remember(in.key, known)
			quarantined = quarantined || known.quarantined()
		}
	}
	return quarantined
}

func (s *suspicion) remember(key inputKey, known *strikes) {
	s.strikes[key] = known
	forgotten := func(other inputKey) bool { return other == key || s.strikes[other] == nil }
	s.order = append(slices.DeleteFunc(s.order, forgotten), key)
	if len(s.order) > maxStrikes {
		delete(s.strikes, s.order[0])
		s.order = s.order[1:]
	}
}

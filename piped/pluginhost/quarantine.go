// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
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

// inputKey identifies what a call asks of a plugin: calls with the same one are expected to end the same way.
type inputKey [sha256.Size]byte

// inputOf leaves out what differs from run to run, such as the id of the deployment.
func inputOf(method string, request any) (key inputKey, ok bool) {
	if !outlasts(method) {
		return key, false
	}
	var parts [][]byte
	switch request := request.(type) {
	case *deployment.ExecuteStageRequest:
		input := request.GetInput()
		parts = [][]byte{
			[]byte(input.GetDeployment().GetApplicationId()), []byte(input.GetStage().GetName()),
			input.GetStageConfig(),
			[]byte(input.GetTargetDeploymentSource().GetCommitHash()),
		}
	case interface {
		GetInput() *deployment.PlanPluginInput
	}:
		input := request.GetInput()
		parts = [][]byte{
			[]byte(input.GetDeployment().GetApplicationId()), []byte(input.GetTargetDeploymentSource().GetCommitHash()),
		}
	case proto.Message:
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
		if err != nil {
			return key, false
		}
		parts = [][]byte{data}
	default:
		return key, false
	}
	hash := sha256.New()
	for _, part := range append(parts, []byte(method)) {
		fmt.Fprintf(hash, "%d:", len(part))
		hash.Write(part)
	}
	return inputKey(hash.Sum(nil)), true
}

// strikes is how often processes of one build have ended during calls with an input, with no answer since.
type strikes struct {
	build string
	count int
	last  string
}

// suspicion holds the inputs during which processes of a plugin have ended.
type suspicion struct {
	plugin string
	timer  clock.Timer

	mu      sync.Mutex
	strikes map[inputKey]*strikes
	order   []inputKey
	// turn is held during a call with an input under suspicion: calls that may each be at fault do not run together.
	turn chan struct{}
}

func newSuspicion(plugin string, timer clock.Timer) *suspicion {
	return &suspicion{plugin: plugin, timer: timer, strikes: map[inputKey]*strikes{}, turn: make(chan struct{}, 1)}
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

// admit refuses a call with a quarantined input, and lets one that is under suspicion wait for its turn. Leave is
// called after the call.
func (s *suspicion) admit(ctx context.Context, key inputKey, build string) (leave func(), err error) {
	s.mu.Lock()
	known := s.strikes[key]
	if known != nil && known.build != build {
		delete(s.strikes, key)
		known = nil
	}
	if known != nil && known.count >= strikeLimit {
		err = &InputQuarantinedError{Plugin: s.plugin, Build: shortBuild(build), Crashes: known.count, Last: known.last}
	}
	s.mu.Unlock()
	if err != nil || known == nil {
		return func() {}, err
	}
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, nil
	case <-s.timer.After(suspectPatience):
		return func() {}, nil
	case <-ctx.Done():
		return func() {}, status.FromContextError(ctx.Err()).Err()
	}
}

// shortBuild is the part of a binary's path that stands for its content.
func shortBuild(path string) string { return path[strings.LastIndexByte(path, '-')+1:] }

// acquit forgets the strikes of an input: the plugin has answered.
func (s *suspicion) acquit(key inputKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.strikes, key)
}

// pardon forgets all strikes.
func (s *suspicion) pardon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.strikes)
	s.order = nil
}

// blame counts the end of a process against the inputs of its calls. When some were under suspicion before, it was one
// of those that were most often. It returns false when the process had no calls, was stopped on purpose or was ended
// because of a stage that did not stop.
func (s *suspicion) blame(proc *process) bool {
	inputs, exit := proc.inputs.running(), proc.ending.exit
	if len(inputs) == 0 || exit.Requested || exit.Abandoned {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	build := proc.command.Path
	most := 0
	for _, key := range inputs {
		if known := s.strikes[key]; known != nil && known.build == build {
			most = max(most, known.count)
		}
	}
	for _, key := range inputs {
		known := s.strikes[key]
		if known == nil || known.build != build {
			known = &strikes{build: build}
		}
		if known.count == most {
			known.count++
			known.last = exit.Error()
			s.remember(key, known)
		}
	}
	return true
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

// inputs are those of the calls that a process works on.
type inputs struct {
	mu    sync.Mutex
	count map[inputKey]int
}

func (i *inputs) begin(key inputKey) (end func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.count == nil {
		i.count = map[inputKey]int{}
	}
	i.count[key]++
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.count[key]--; i.count[key] == 0 {
			delete(i.count, key)
		}
	}
}

func (i *inputs) running() []inputKey {
	i.mu.Lock()
	defer i.mu.Unlock()
	keys := make([]inputKey, 0, len(i.count))
	for key := range i.count {
		keys = append(keys, key)
	}
	return keys
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/system/clock"
)

// Injected begins what is said about a fault.
const Injected = "fault injected: "

// Set holds rules. Its methods may be called on nil, apart from those that change rules, and from any goroutine.
type Set struct {
	// run begins the ids of rules: a rule of an earlier piped is never taken for one of this piped.
	run string

	mu      sync.Mutex
	count   int // of rules that were added
	rules   []*rule
	running map[subject]*Attempt
	// changed is closed when other rules wait.
	changed chan struct{}
}

// New returns a Set without rules.
func New() *Set {
	run := make([]byte, 2)
	_, _ = rand.Read(run) // never fails
	return &Set{run: hex.EncodeToString(run), running: map[subject]*Attempt{}, changed: make(chan struct{})}
}

// Stage is one that is attempted.
type Stage struct {
	// Application, Deployment and ID are ids.
	Application, Deployment, ID string
	// Names are what rules may call it: its type, and the id that its author gave it.
	Names []string
}

// subject is a stage of a deployment.
type subject struct{ deployment, stage string }

// Attempt is one attempt at a stage in which faults happen. Its methods may be called on nil, for an attempt without
// any.
type Attempt struct {
	set     *Set
	subject subject
	actions []*action
	// rules are those of the actions; none once the attempt has ended.
	rules []*rule

	// What the plugin has done so far; guarded by the lock of the set.
	calls, lines, failed int
	lastBlock            int64
	// happened are the actions that have happened, ended is the one during which Before ended; -1 for none.
	happened []bool
	ended    int
	end      func(why string)
}

// Begin returns what happens in an attempt at a stage; nil for nothing. The caller ends it.
func (s *Set) Begin(stage Stage) *Attempt {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &Attempt{set: s, subject: subject{stage.Deployment, stage.ID}, lastBlock: -1, ended: -1}
	for _, r := range s.rules {
		if r.target == ControlPlane || r.target == Cluster || !r.fits(stage, r.target) {
			continue
		}
		for _, one := range r.actions {
			if one.left > 0 {
				one.left--
				r.lent++
				a.actions, a.rules = append(a.actions, one), append(a.rules, r)
			}
		}
	}
	if len(a.actions) == 0 {
		return nil
	}
	a.happened = make([]bool, len(a.actions))
	s.running[a.subject] = a
	s.notify()
	return a
}

// End says that the attempt is over. What it did not get to happens in another one.
func (a *Attempt) End() {
	if a == nil {
		return
	}
	a.set.mu.Lock()
	defer a.set.mu.Unlock()
	if a.set.running[a.subject] == a {
		delete(a.set.running, a.subject)
	}
	for i, r := range a.rules {
		r.lent--
		if !a.happened[i] {
			a.actions[i].left++
		}
	}
	a.rules = nil
	a.set.forget()
	a.set.notify()
}

// String says what is injected; empty for nothing.
func (a *Attempt) String() string {
	if a == nil {
		return ""
	}
	var texts []string
	for _, one := range a.actions {
		texts = append(texts, one.text)
	}
	return Injected + strings.Join(texts, "; ")
}

// Before does what happens before the plugin gets the stage, in the order of the actions. It ends early with the cause
// of ctx. end ends the process that has the stage, with a reason; write adds lines to the log of the stage.
func (a *Attempt) Before(ctx context.Context, timer clock.Timer, end func(why string),
	write func(ctx context.Context, lines int) error) error {
	if a == nil {
		return nil
	}
	a.set.mu.Lock()
	a.end = end
	a.set.mu.Unlock()
	for i, one := range a.actions {
		var err error
		switch one.kind {
		case delay:
			err = clock.Wait(ctx, timer, one.delay)
		case flood:
			err = write(ctx, one.number)
		case hang:
			<-ctx.Done()
		default:
			continue
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		a.note(i, err != nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// Answer is the status that takes the place of the plugin's; false for none.
func (a *Attempt) Answer() (model.StageStatus, bool) {
	if a != nil {
		for i, one := range a.actions {
			if one.kind == setStatus {
				a.note(i, false)
				return one.status, true
			}
		}
	}
	return 0, false
}

// Unary sees the calls of plugins to piped, and has those about a stage fail or end the plugin.
func (s *Set) Unary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	about, ok := request.(interface {
		GetDeploymentId() string
		GetStageId() string
	})
	if !ok {
		return handle(ctx, request)
	}
	refused, end := s.called(subject{about.GetDeploymentId(), about.GetStageId()}, request)
	if refused {
		return nil, status.Error(codes.Unavailable, Injected+unavailable)
	}
	reply, err := handle(ctx, request)
	if end != nil {
		end()
	}
	return reply, err
}

// called counts a call.
func (s *Set) called(about subject, request any) (refused bool, end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.running[about]
	if a == nil {
		return false, nil
	}
	a.calls++
	if blocks, ok := request.(interface{ GetBlocks() []*model.LogBlock }); ok {
		a.count(blocks.GetBlocks())
	}
	room := a.failed
	for i, one := range a.actions {
		switch {
		case one.kind == unavailable && room < one.number:
			a.failed++
			a.happened[i] = true
			return true, nil
		case one.kind == unavailable:
			room -= one.number
		case one.kind != kill || a.happened[i] || a.end == nil:
		case one.at == atLog && a.lines >= one.number, one.at == atCall && a.calls >= one.number:
			a.happened[i] = true
			return false, func() { a.end("a fault is injected: " + one.text) }
		}
	}
	return false, nil
}

// count counts the lines of a log. A checkpoint has those before it again.
func (a *Attempt) count(blocks []*model.LogBlock) {
	for _, block := range blocks {
		if block.GetIndex() > a.lastBlock {
			a.lastBlock = block.GetIndex()
			a.lines += strings.Count(strings.TrimSuffix(block.GetLog(), "\n"), "\n") + 1
		}
	}
}

// Reports returns the layer of calls to the control plane in which the reports about deployments and stages have
// faults; nil for a nil Set.
func (s *Set) Reports() grpc.UnaryClientInterceptor {
	if s == nil {
		return nil
	}
	return func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption) error {
		if err := s.report(ctx, path.Base(method)); err != nil {
			return err
		}
		return invoke(ctx, method, request, reply, conn, opts...)
	}
}

// report waits or fails for a call of the control plane.
func (s *Set) report(ctx context.Context, name string) error {
	if !strings.HasPrefix(name, "ReportStage") && !strings.HasPrefix(name, "ReportDeployment") {
		return nil
	}
	refused, pause := s.reported()
	if pause > 0 && !clock.Sleep(ctx, pause) {
		return status.FromContextError(ctx.Err()).Err()
	}
	if refused {
		return status.Error(codes.Unavailable, Injected+unavailable)
	}
	return nil
}

// fits reports whether a rule for a stage of that name is for this one; an empty name is every stage.
func (r *rule) fits(stage Stage, name string) bool {
	return (r.application == "" || r.application == stage.Application) &&
		(name == "" || slices.Contains(stage.Names, name))
}

// reported takes the next action of the control plane's. Of unavailable, each report uses up one.
func (s *Set) reported() (refused bool, pause time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rules {
		for _, one := range r.actions {
			if r.target != ControlPlane || one.left == 0 {
				continue
			}
			defer s.notify()
			if one.kind == delay {
				one.left--
				return false, one.delay
			}
			if one.number--; one.number == 0 {
				one.left = 0
			}
			return true, 0
		}
	}
	return false, 0
}

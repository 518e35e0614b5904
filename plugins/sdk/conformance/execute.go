// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// execution is one call for a stage.
type execution struct {
	session *session
	stage   string
	id      string
	status  model.StageStatus
	err     error
	began   time.Time
	took    time.Duration
	// cut says that the stage was cancelled at the run limit.
	cut bool
}

// order says what is executed.
type order struct {
	stage string
	// id is that of an earlier execution to take up; empty is a new one.
	id      string
	attempt int32
	// edit changes the request.
	edit func(*deployment.ExecuteStageRequest)
	// deadline is that of the call; 0 is none.
	deadline time.Duration
	// first is set for the baseline, which is cancelled at the run limit alone.
	first bool
	// free is how many requests of a held stage pass before.
	free int
	// holds, when set, says which requests of a held stage wait; all without.
	holds func(call) bool
	// exclusive is set by who holds suite.deploying already.
	exclusive bool
	// context, when set, ends the call in place of the run limit.
	context context.Context
	// sent, when set, is closed when the call begins: it may have to wait for another stage of the deploy targets.
	sent chan struct{}
}

// stage is the name of the stage that is executed.
func (s *suite) stage(x *session) string {
	if s.options.Stage != "" || len(x.stages) == 0 {
		return s.options.Stage
	}
	return x.stages[0]
}

func (s *suite) with() string {
	if s.options.With == "" {
		return "{}"
	}
	return s.options.With
}

func (s *suite) targets() []string {
	var names []string
	for _, target := range s.options.Settings.DeployTargets {
		names = append(names, target.Name)
	}
	return names
}

// newID returns the id of a stage that no other has.
func (s *suite) newID() string { return fmt.Sprintf("stage-%d", s.ids.next()) }

// execute runs the stage to its end, or until the run limit. It has no deadline, which a plugin would see, and could
// answer to before the caller sees it: piped cancels a stage.
func (x *session) execute(p *probe, o order) (*execution, error) {
	s := x.suite
	if o.stage == "" {
		o.stage = s.stage(x)
	}
	if o.id == "" {
		o.id = s.newID()
	}
	var patience time.Duration
	if o.context == nil { // who gives one ends it, and needs the stage to begin at once
		patience = s.patience(p, o)
	}
	if s.offers(p) == model.ManualOperation_MANUAL_OPERATION_APPROVE {
		for i := range 3 { // some stages want several approvals
			x.piped.Approve(o.id, fmt.Sprintf("user-%d", i+1))
		}
	}
	if len(s.options.Settings.DeployTargets) > 0 && !o.exclusive {
		s.deploying.Lock()
		defer s.deploying.Unlock()
	}
	request, err := s.request(o.stage, o.id)
	if err != nil {
		return nil, err
	}
	request.Input.Stage.RetriedCount = o.attempt
	if o.edit != nil {
		o.edit(request)
	}
	parent := p.ctx
	if o.context != nil {
		parent = o.context
	}
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	if o.context == nil {
		defer x.process.bound(ctx, patience, cancel)()
	}
	if o.deadline > 0 {
		ctx, cancel = context.WithTimeout(ctx, o.deadline)
		defer cancel()
	}
	x.rec.begin(o.id, request.GetInput().GetDeployment().GetId())
	if o.sent != nil {
		close(o.sent)
	}
	began := time.Now()
	answer, err := x.deployments().ExecuteStage(ctx, request)
	e := &execution{session: x, stage: o.stage, id: o.id, status: answer.GetStatus(), err: err, began: began,
		took: time.Since(began), cut: ctx.Err() != nil || status.Code(err) == codes.DeadlineExceeded && o.deadline > 0}
	if !e.cut {
		x.rec.end(o.id)
	}
	return e, p.ctx.Err()
}

// ranOnce is the stage that ran to its end in the shared session; others compare with it.
func (p *probe) ranOnce() (*execution, error) {
	x, err := p.shared()
	if err != nil {
		return nil, err
	}
	return p.suite.baseline.get(func() (*execution, error) { return x.execute(p, order{first: true}) })
}

// base is the baseline for callers that need no separate session for it.
func (s *suite) base(p *probe) *execution {
	x, err := s.sharedSession(p.ctx)
	if err != nil {
		return nil
	}
	e, err := s.baseline.get(func() (*execution, error) { return x.execute(p, order{first: true}) })
	if err != nil {
		return nil
	}
	return e
}

// patience is how long a stage may run. One that did not end before will not do so now.
func (s *suite) patience(p *probe, o order) time.Duration {
	const short = time.Second
	if o.first {
		return s.options.RunLimit
	}
	if base := s.base(p); base != nil && base.cut {
		return min(short, s.options.RunLimit)
	}
	return s.options.RunLimit
}

// settled is ranOnce, and not applicable when the stage did not end by itself or its process has ended.
func (p *probe) settled() (*execution, error) {
	e, err := p.ranOnce()
	switch {
	case err != nil:
		return nil, err
	case e.cut:
		return nil, skip("%s", p.suite.cutOff())
	case e.err != nil && !e.refused():
		return nil, skip("the stage does not end, see execution.ends")
	}
	return e, nil
}

// refused is whether the error is an answer of the plugin to what it was given.
func (e *execution) refused() bool { return refusal(e.err) }

func refusal(err error) bool {
	switch status.Code(err) {
	case codes.OK, codes.Unimplemented, codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return false
	}
	return true
}

// failed is whether the plugin says that the stage has not done its work.
func (e *execution) failed() bool {
	return e.refused() || e.err == nil && (e.status == model.StageStatus_STAGE_FAILURE ||
		e.status == model.StageStatus_STAGE_CANCELLED)
}

// problem returns why a stage that was not cut off has no end, or nil.
func (e *execution) problem() error {
	switch {
	case e.session.gone(e.err) != nil:
		return e.session.gone(e.err)
	case e.err != nil && !e.refused():
		return fmt.Errorf("ExecuteStage ended with %s", words(e.err))
	case e.err == nil && !terminal(e.status):
		return fmt.Errorf("it answered %s, which is no end", e.status)
	}
	return nil
}

// how says how it ended, with the last words of its log.
func (e *execution) how() string {
	if e.err != nil {
		return "it refuses: " + firstLine(status.Convert(e.err).Message())
	}
	return fmt.Sprintf("%s after %s%s", strings.TrimPrefix(e.status.String(), "STAGE_"),
		e.took.Round(time.Millisecond), e.lastWords())
}

func (e *execution) lastWords() string {
	for _, block := range slices.Backward(e.session.piped.Blocks(e.id, false)) {
		if words := firstLine(block.GetLog()); words != "" { // a stack follows them
			return ": " + words
		}
	}
	return ""
}

// kind is a word for the end, to compare executions by.
func (e *execution) kind() string {
	switch {
	case e.cut:
		return "cut off"
	case e.err != nil:
		return status.Code(e.err).String()
	}
	return e.status.String()
}

// keys are those of the metadata of the stage.
func (e *execution) keys() string {
	return strings.Join(slices.Sorted(maps.Keys(e.session.piped.StageMetadata(e.id))), ", ")
}

func terminal(s model.StageStatus) bool {
	switch s {
	case model.StageStatus_STAGE_SUCCESS, model.StageStatus_STAGE_FAILURE, model.StageStatus_STAGE_CANCELLED,
		model.StageStatus_STAGE_SKIPPED, model.StageStatus_STAGE_EXITED:
		return true
	}
	return false
}

// cutOff says that a stage was cancelled at the run limit, and how it gets more time.
func (s *suite) cutOff() string {
	return fmt.Sprintf("the stage was still running after %s and was cancelled; give it more time, for example with "+
		"--run-limit %s", s.options.RunLimit, moreTime(s.options.RunLimit))
}

// moreTime returns four times a limit, without units that are zero: 1m for 15s.
func moreTime(limit time.Duration) string {
	text := (4 * limit).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if whole, ok := strings.CutSuffix(text, zero); ok {
			text = whole + zero[:1]
		}
	}
	return text
}

// unsuccessful reports a stage that has not done its work. With the options that were given it should have; without
// options it may miss some.
func (s *suite) unsuccessful(why string) error {
	if s.options.With != "" {
		return errors.New(why)
	}
	return note("%s; give it options with --with", why)
}

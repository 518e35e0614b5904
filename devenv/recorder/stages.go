// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"context"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// runTimeout bounds the question what a stage was executed with. Without an answer the session has none.
const runTimeout = 5 * time.Second

// stageKey is a stage of a deployment.
type stageKey struct{ deployment, stage string }

// stages records what stages are executed with, and the logs of those that ended before the session began.
type stages struct {
	*recorder
	// news has a value when due is not empty.
	news chan struct{}
	// mu guards the rest.
	mu sync.Mutex
	// seen is the state of each stage that was recorded last, of deployments that are known.
	seen map[stageKey]stageState
	// due are the stages that have changed since, oldest first.
	due []stageKey
}

// stageState is what changes when a stage begins, is tried again, or ends.
type stageState struct {
	status  deckv1.StageStatus
	retries int32
}

func newStages(r *recorder) *stages {
	return &stages{recorder: r, news: make(chan struct{}, 1), seen: map[stageKey]stageState{}}
}

// see notes which stages of a deployment have changed.
func (s *stages) see(event *deckv1.Event) {
	d := event.GetDeployment()
	if d == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stage := range d.GetStages() {
		key, now := stageKey{d.GetId(), stage.GetId()}, stageState{stage.GetStatus(), stage.GetRetries()}
		if now.status <= deckv1.StageStatus_STAGE_STATUS_NOT_STARTED || s.seen[key] == now {
			continue
		}
		s.seen[key] = now
		if !slices.Contains(s.due, key) {
			s.due = append(s.due, key)
		}
	}
	if len(s.due) > 0 {
		select {
		case s.news <- struct{}{}:
		default:
		}
	}
}

// next takes a stage that has changed.
func (s *stages) next() (stageKey, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.due) == 0 {
		return stageKey{}, false
	}
	key := s.due[0]
	s.due = s.due[1:]
	return key, true
}

// follow records the runs of stages as they change.
func (s *stages) follow(ctx context.Context) error {
	for {
		if err := s.runs(ctx); err != nil {
			return err
		}
		select {
		case <-s.news:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *stages) runs(ctx context.Context) error {
	for {
		key, found := s.next()
		if !found {
			return nil
		}
		if err := s.run(ctx, key); err != nil {
			return err
		}
	}
}

func (s *stages) run(ctx context.Context, key stageKey) error {
	bounded, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	request := &deckv1.GetStageRunRequest{DeploymentId: key.deployment, StageId: key.stage}
	response, err := s.deck.GetStageRun(bounded, request, grpc.MaxCallRecvMsgSize(maxMessage))
	if err != nil {
		return context.Cause(ctx) // the deployment is no longer kept, or the stream of changes breaks, too
	}
	return s.add(ctx, &deckv1.SessionRecord{Kind: &deckv1.SessionRecord_StageRun{StageRun: &deckv1.SessionStageRun{
		DeploymentId: key.deployment, StageId: key.stage, Response: response,
	}}})
}

// readOnce records the runs and the logs of all stages.
func (s *stages) readOnce(ctx context.Context) error {
	if err := s.runs(ctx); err != nil {
		return err
	}
	return s.readLogs(ctx)
}

// readLogs records the logs of the stages that have ended: the stream of changes has those of the others.
func (s *stages) readLogs(ctx context.Context) error {
	s.mu.Lock()
	var ended []stageKey
	for key, now := range s.seen {
		if now.status > deckv1.StageStatus_STAGE_STATUS_RUNNING {
			ended = append(ended, key)
		}
	}
	s.mu.Unlock()
	for _, key := range ended {
		if err := s.readLog(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (s *stages) readLog(ctx context.Context, key stageKey) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.deck.WatchStageLog(ctx, &deckv1.WatchStageLogRequest{
		DeploymentId: key.deployment, StageId: key.stage}, grpc.MaxCallRecvMsgSize(maxMessage))
	if err != nil {
		return context.Cause(ctx) // nil when the deployment is no longer kept
	}
	for {
		response, err := stream.Recv()
		if err != nil {
			return context.Cause(ctx)
		}
		if err := s.add(ctx, &deckv1.SessionRecord{Kind: &deckv1.SessionRecord_StageLog{
			StageLog: &deckv1.SessionStageLog{DeploymentId: key.deployment, StageId: key.stage, Response: response},
		}}); err != nil {
			return err
		}
		if response.GetCompleted() || response.GetLast() {
			return nil
		}
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// pauseKey is the stage metadata with the pause of a stage, as our piped keeps it.
const pauseKey = "pipedeck/paused"

// The metadata of an APPROVE_STAGE command that says how a paused stage goes on, for our piped: no other one pauses a
// stage.
const (
	decisionKey        = "pipedeck/breakpoint"
	decisionOptionsKey = "pipedeck/breakpoint-options"
)

const (
	// decisionWait is the time for the answer of piped.
	decisionWait = 8 * time.Second
	// maxEditedOptions bounds the options that a user gives.
	maxEditedOptions = 256 << 10
	// maxBreakpointText bounds the names in a breakpoint.
	maxBreakpointText = 512
)

// ChangeBreakpoints clears and sets breakpoints.
func (s *Server) ChangeBreakpoints(
	_ context.Context, r *deckv1.ChangeBreakpointsRequest,
) (*deckv1.ChangeBreakpointsResponse, error) {
	for _, one := range r.GetSet() {
		_, known := deckv1.Breakpoint_When_name[int32(one.GetWhen())]
		if one.GetWhen() == deckv1.Breakpoint_WHEN_UNSPECIFIED || !known || one.GetStage() == "" ||
			len(one.GetStage())+len(one.GetApplication()) > maxBreakpointText {
			return nil, status.Error(codes.InvalidArgument, "a breakpoint needs a stage, and when it stops")
		}
	}
	if len(r.GetSet()) > 0 && !s.store.StopsAtBreakpoints() {
		return nil, status.Error(codes.FailedPrecondition,
			"the piped of this environment does not stop at breakpoints; use the included one")
	}
	list, err := s.store.ChangeBreakpoints(r.GetClearAll(), r.GetClear(), r.GetSet())
	if err != nil {
		return nil, err
	}
	return &deckv1.ChangeBreakpointsResponse{Breakpoints: list}, nil
}

// hows are the decisions as piped reads them.
var hows = map[deckv1.ContinueStageRequest_How]string{
	deckv1.ContinueStageRequest_HOW_CONTINUE: "continue",
	deckv1.ContinueStageRequest_HOW_AGAIN:    "again",
	deckv1.ContinueStageRequest_HOW_SKIP:     "skip",
}

// ContinueStage passes a decision about a paused stage on to piped, and waits for the answer.
func (s *Server) ContinueStage(
	ctx context.Context, r *deckv1.ContinueStageRequest,
) (*deckv1.ContinueStageResponse, error) {
	d, err := s.openDeployment(r.GetDeploymentId())
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(d.GetStages(), func(p *model.PipelineStage) bool { return p.GetId() == r.GetStageId() })
	if i < 0 {
		return nil, unknownStage(r.GetDeploymentId(), r.GetStageId())
	}
	stage, how := d.GetStages()[i], hows[r.GetHow()]
	switch {
	case pause(d, stage) == nil:
		return nil, status.Errorf(codes.FailedPrecondition,
			"stage %s is not paused at a breakpoint; list those that are with `pipedeck break --list`",
			stageWord(stage))
	case how == "":
		return nil, status.Error(codes.InvalidArgument, "how the stage goes on is missing")
	case len(r.GetOptions()) > maxEditedOptions:
		return nil, status.Errorf(codes.InvalidArgument, "the options have more than %d bytes", maxEditedOptions)
	}
	id, err := s.store.Commands.Add(&model.Command{
		PipedId: d.GetPipedId(), ApplicationId: d.GetApplicationId(), DeploymentId: d.GetId(), StageId: stage.GetId(),
		Commander: cmp.Or(r.GetCommander(), defaultCommander), Type: model.Command_APPROVE_STAGE,
		ApproveStage: &model.Command_ApproveStage{DeploymentId: d.GetId(), StageId: stage.GetId()},
		Metadata:     map[string]string{decisionKey: how, decisionOptionsKey: r.GetOptions()},
	})
	if err != nil {
		return nil, err
	}
	answer := &deckv1.ContinueStageResponse{CommandId: id}
	answer.Unanswered, err = s.decided(ctx, d.GetPipedId(), id)
	return answer, err
}

// decided waits for the answer of piped to a decision; unanswered says why there is none.
func (s *Server) decided(ctx context.Context, pipedID, id string) (unanswered string, err error) {
	if s.unreachable(pipedID) != "" {
		return "piped is not connected; the stage goes on once it is", nil
	}
	handled, err := s.store.Commands.Await(id)
	if err != nil {
		return "", err
	}
	timeout := time.NewTimer(decisionWait)
	defer timeout.Stop()
	select {
	case <-handled:
	case <-timeout.C:
		return fmt.Sprintf("piped has not answered within %s", decisionWait), nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
	command, output, err := s.store.Commands.Get(id)
	if err == nil && command.GetStatus() == model.CommandStatus_COMMAND_FAILED {
		err = status.Error(codes.InvalidArgument,
			cmp.Or(strings.TrimSpace(string(output)), command.GetMetadata()["Reason"], "piped refuses it"))
	}
	return "", err
}

// keptPause is the value of pauseKey.
type keptPause struct {
	When                string
	Since               int64 // Unix milliseconds
	Held                int64 // milliseconds of earlier pauses
	Attempt             int32
	Status, Reason      string
	Directory           string
	RepositoryDirectory string
	RunningDirectory    string
	Options             string
}

var whens = map[string]deckv1.Breakpoint_When{
	"before": deckv1.Breakpoint_WHEN_BEFORE, "after": deckv1.Breakpoint_WHEN_AFTER,
	"failure": deckv1.Breakpoint_WHEN_FAILURE,
}

// pause is where a stage is paused; nil when it is not.
func pause(d *model.Deployment, s *model.PipelineStage) *deckv1.StagePause {
	if d.GetStatus() >= model.DeploymentStatus_DEPLOYMENT_SUCCESS ||
		s.GetStatus() > model.StageStatus_STAGE_RUNNING {
		return nil
	}
	var kept keptPause
	if json.Unmarshal([]byte(s.GetMetadata()[pauseKey]), &kept) != nil || kept.When == "" {
		return nil
	}
	out := &deckv1.StagePause{
		When: whens[kept.When], Since: timestamppb.New(time.UnixMilli(kept.Since)), Attempt: kept.Attempt,
		Result: strings.ToLower(kept.Status), Reason: kept.Reason, Directory: kept.Directory,
		RepositoryDirectory: kept.RepositoryDirectory, RunningDirectory: kept.RunningDirectory, Options: kept.Options,
	}
	for plugin, list := range d.GetDeployTargetsByPlugin() {
		for _, name := range list.GetDeployTargets() {
			out.DeployTargets = append(out.DeployTargets, plugin+"/"+name)
		}
	}
	slices.Sort(out.DeployTargets)
	return out
}

// pausedTime is how long the last attempt of a stage that has ended was paused after it ran; nil for never. A pause
// before an attempt is not part of its time.
func pausedTime(s *model.PipelineStage, times store.StageTimes) *durationpb.Duration {
	var kept keptPause
	if json.Unmarshal([]byte(s.GetMetadata()[pauseKey]), &kept) != nil || kept.When == "" || kept.When == "before" {
		return nil
	}
	paused := times.Completed.Sub(time.UnixMilli(kept.Since))
	if times.Completed.IsZero() || paused <= 0 || time.UnixMilli(kept.Since).Before(times.Started) {
		return nil
	}
	return durationpb.New(paused)
}

// pausedInAll is how long the stages of a deployment were paused, without pauses that go on; nil for never. Stages that
// begin together may be paused together: of them the longest time counts.
func pausedInAll(d *model.Deployment, times map[string]store.StageTimes) *durationpb.Duration {
	longest := map[string]time.Duration{}
	for _, s := range d.GetStages() {
		var kept keptPause
		if json.Unmarshal([]byte(s.GetMetadata()[pauseKey]), &kept) != nil {
			continue
		}
		paused := time.Duration(kept.Held) * time.Millisecond
		if end := times[s.GetId()].Completed; kept.When != "" && !end.IsZero() {
			paused += max(0, end.Sub(time.UnixMilli(kept.Since)))
		}
		together := strings.Join(slices.Sorted(slices.Values(s.GetRequires())), " ")
		longest[together] = max(longest[together], paused)
	}
	var all time.Duration
	for _, paused := range longest {
		all += paused
	}
	if all == 0 {
		return nil
	}
	return durationpb.New(all)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

const (
	defaultPreviewTimeout = 5 * time.Minute
	maxPreviewTimeout     = time.Hour
	// previewGrace is the time beyond the timeout for piped to say itself that it took too long.
	previewGrace = 10 * time.Second
)

// PlanPreviews serves PlanPreviewService.
type PlanPreviews struct {
	deckv1.UnimplementedPlanPreviewServiceServer
	store *store.Store
}

var _ deckv1.PlanPreviewServiceServer = (*PlanPreviews)(nil)

// NewPlanPreviews returns the service on a store.
func NewPlanPreviews(s *store.Store) *PlanPreviews { return &PlanPreviews{store: s} }

// PlanPreview implements deckv1.PlanPreviewServiceServer.
func (s *PlanPreviews) PlanPreview(
	r *deckv1.PlanPreviewRequest, stream grpc.ServerStreamingServer[deckv1.PlanPreviewResponse],
) error {
	if r.GetHeadCommit() == "" {
		return status.Error(codes.InvalidArgument, "head_commit is empty; name the commit to merge by its full hash")
	}
	repository, err := s.repository(r.GetRepository())
	if err != nil {
		return err
	}
	timeout := min(cmp.Or(r.GetTimeout().AsDuration(), defaultPreviewTimeout), maxPreviewTimeout)
	if timeout < time.Second {
		return status.Error(codes.InvalidArgument, "timeout is shorter than a second")
	}
	head := cmp.Or(r.GetHeadBranch(), repository.GetBranch())
	commands, err := s.ask(repository, head, r.GetHeadCommit(), timeout)
	// No one else fetches these results.
	defer func() {
		for _, id := range commands {
			s.store.Commands.GiveUp(id)
		}
	}()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(stream.Context(), timeout+previewGrace)
	defer cancel()
	progress := &deckv1.PlanPreviewProgress{Repository: repository.GetRemote(), BaseBranch: repository.GetBranch(),
		Asked: int32(len(commands))}
	result := &deckv1.PlanPreview{BaseBranch: repository.GetBranch(), HeadBranch: head, HeadCommit: r.GetHeadCommit()}
	for _, id := range commands {
		part := &deckv1.PlanPreviewResponse_Progress{Progress: progress}
		if err := stream.Send(&deckv1.PlanPreviewResponse{Kind: part}); err != nil {
			return err
		}
		if err := s.collect(ctx, id, result); err != nil {
			return err
		}
		progress = &deckv1.PlanPreviewProgress{Repository: progress.Repository, BaseBranch: progress.BaseBranch,
			Asked: progress.Asked, Answered: progress.Answered + 1}
	}
	slices.SortStableFunc(result.Applications,
		func(a, b *deckv1.ApplicationPlanPreview) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return stream.Send(&deckv1.PlanPreviewResponse{Kind: &deckv1.PlanPreviewResponse_Result{Result: result}})
}

// repository finds the watched repository by its id or remote. When it is not named, it is the only one, or else that
// of the environment itself.
func (s *PlanPreviews) repository(named string) (*model.ApplicationGitRepository, error) {
	watched := s.store.Pipeds.WatchedRepositories()
	if named == "" && len(watched) > 1 && slices.ContainsFunc(watched, func(r *model.ApplicationGitRepository) bool {
		return r.GetId() == workspace.RepositoryID
	}) {
		named = workspace.RepositoryID
	}
	var found, names []string
	var chosen *model.ApplicationGitRepository
	for _, r := range watched {
		names = append(names, r.GetId())
		if named == "" || named == r.GetId() || named == r.GetRemote() {
			chosen = r
			found = append(found, r.GetId()+" (branch "+r.GetBranch()+")")
		}
	}
	switch {
	case len(watched) == 0:
		return nil, status.Error(codes.FailedPrecondition,
			"no piped has reported which repositories it watches; wait until it has started")
	case len(found) == 0:
		return nil, status.Errorf(codes.FailedPrecondition, "no piped watches repository %q; choose one of: %s", named,
			strings.Join(names, ", "))
	case len(found) > 1:
		return nil, status.Errorf(codes.FailedPrecondition, "several repositories are watched; name one of: %s",
			strings.Join(found, ", "))
	}
	return chosen, nil
}

// ask returns the commands that were stored, also with an error.
func (s *PlanPreviews) ask(
	r *model.ApplicationGitRepository, headBranch, headCommit string, timeout time.Duration,
) (ids []string, err error) {
	for _, c := range s.store.Pipeds.PlanPreviewTargets(r.GetRemote(), headBranch, headCommit, r.GetBranch(), timeout) {
		id, err := s.store.Commands.Add(c)
		if err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// collect waits for one piped's answer and adds it to the result.
func (s *PlanPreviews) collect(ctx context.Context, id string, result *deckv1.PlanPreview) error {
	handled, err := s.store.Commands.Await(id)
	if err != nil {
		return err
	}
	select {
	case <-handled:
	case <-ctx.Done():
		if ctx.Err() == context.DeadlineExceeded {
			return status.Error(codes.DeadlineExceeded,
				"piped did not answer in time; does it run? see `pipedeck status`")
		}
		return status.FromContextError(ctx.Err()).Err()
	}
	command, output, err := s.store.Commands.Get(id)
	if err != nil {
		return err
	}
	answer, err := store.DecodePlanPreview(command, output)
	if err != nil {
		return err
	}
	if answer.GetError() != "" {
		name := command.GetPipedId()
		if p, err := s.store.Pipeds.Get(command.GetPipedId()); err == nil {
			name = p.GetName()
		}
		result.Errors = append(result.Errors, fmt.Sprintf("piped %s: %s", name, answer.GetError()))
	}
	changes := store.PlannedChanges(answer, output)
	for _, a := range answer.GetResults() {
		result.Applications = append(result.Applications, applicationPreview(a, changes))
	}
	return nil
}

func applicationPreview(a *model.ApplicationPlanPreviewResult,
	changes map[*model.PluginPlanPreviewResult]string) *deckv1.ApplicationPlanPreview {
	p := &deckv1.ApplicationPlanPreview{
		Id: a.GetApplicationId(), Name: a.GetApplicationName(), Path: a.GetApplicationDirectory(),
		Strategy:       a.GetSyncStrategy().String(),
		StrategyReason: string(a.GetPlanSummary()), NoChange: a.GetNoChange(), Plugins: a.GetPluginNames(),
		Error: a.GetError(),
	}
	for _, one := range a.GetPluginPlanResults() {
		p.Targets = append(p.Targets, &deckv1.TargetPlanPreview{
			Plugin: one.GetPluginName(), Target: one.GetDeployTarget(), Summary: string(one.GetPlanSummary()),
			Details: string(one.GetPlanDetails()), Language: one.GetDiffLanguage(),
			Changes: changes[one],
		})
	}
	return p
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planpreview

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/git"
)

// parallel bounds the applications of one command that are previewed at a time.
const parallel = 4

// change is what a command asks about.
type change struct {
	mirror *git.Repository
	// base is the newest commit of the branch; merged what it would be after the merge, with the words of the head.
	base, merged git.Commit
	// files differ between the two.
	files []string
}

// preview makes the result of a command. An error is one of the whole.
func (m *Maker) preview(ctx context.Context, command *model.Command) (*answer, error) {
	asked := command.GetBuildPlanPreview()
	mirror, err := m.repository(asked)
	if err != nil {
		return nil, err
	}
	c, err := merge(ctx, mirror, asked)
	if err != nil {
		return nil, err
	}
	listed, err := m.options.ControlPlane.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	if err != nil {
		return nil, fmt.Errorf("list the applications: %w", err)
	}
	concerned, err := m.concerned(ctx, c, listed.GetApplications())
	if err != nil {
		return nil, err
	}
	results := make([]*model.ApplicationPlanPreviewResult, len(concerned))
	changes := make([][]planned, len(concerned))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, s := range concerned {
		group.Go(func() error {
			results[i], changes[i] = m.application(ctx, c, s)
			return context.Cause(ctx)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	made := &answer{PlanPreviewCommandResult: &model.PlanPreviewCommandResult{
		CommandId: command.GetId(), PipedId: m.options.PipedID, Results: results,
	}}
	for i, list := range changes {
		for _, one := range list {
			one.Result = i
			made.Changes = append(made.Changes, one)
		}
	}
	return made, nil
}

// repository is the one that the command is about; its base branch must be the one that is watched.
func (m *Maker) repository(asked *model.Command_BuildPlanPreview) (*git.Repository, error) {
	i := slices.IndexFunc(
		m.options.Repositories, func(r *git.Repository) bool { return r.ID() == asked.GetRepositoryId() },
	)
	if i < 0 {
		return nil, fmt.Errorf("repository %q is not in the piped configuration", asked.GetRepositoryId())
	}
	mirror := m.options.Repositories[i]
	if mirror.Branch() != asked.GetBaseBranch() {
		return nil, fmt.Errorf(
			"this piped watches branch %s of repository %s, not %s: name that as the base branch", mirror.Branch(),
			mirror.ID(), asked.GetBaseBranch(),
		)
	}
	return mirror, nil
}

// merge finds what the base branch would be.
func merge(ctx context.Context, mirror *git.Repository, asked *model.Command_BuildPlanPreview) (*change, error) {
	base, err := mirror.Update(ctx)
	if err != nil {
		return nil, fmt.Errorf("fetch the base branch %s: %w", mirror.Branch(), err)
	}
	merged, err := mirror.Merge(ctx, base.Hash, asked.GetHeadCommit(), asked.GetHeadBranch())
	var conflict *git.ConflictError
	if errors.As(err, &conflict) {
		return nil, fmt.Errorf("detected conflicts between commit %s at %s branch and the base branch %s:\n%w",
			asked.GetHeadCommit(), asked.GetHeadBranch(), asked.GetBaseBranch(), conflict)
	}
	if err != nil {
		return nil, fmt.Errorf(
			"merge commit %s of branch %s into the base branch %s: %w", asked.GetHeadCommit(), asked.GetHeadBranch(),
			asked.GetBaseBranch(), err,
		)
	}
	head, err := mirror.Commit(ctx, asked.GetHeadCommit())
	if err != nil {
		return nil, err
	}
	// How people will word the merge is not known; the newest words are those of the head.
	hash := merged.Hash
	merged = head
	merged.Hash = hash
	files, err := mirror.ChangedFiles(ctx, base.Hash, merged.Hash)
	if err != nil {
		return nil, err
	}
	return &change{mirror: mirror, base: base, merged: merged, files: files}, nil
}

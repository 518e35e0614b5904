// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/gitobjects"
	"github.com/pipedeck/pipedeck/devenv/line"
)

const (
	// maxBranches bounds the answer, maxRefs the branches that are read to find the newest.
	maxBranches = 500
	maxRefs     = 5000
	// maxSubject bounds the first line of a message, in bytes.
	maxSubject = 200
)

// ListBranches reads the branches of the watched repository.
func (s *Server) ListBranches(context.Context, *deckv1.ListBranchesRequest) (*deckv1.ListBranchesResponse, error) {
	repository, base, err := s.watched()
	if err != nil {
		return nil, err
	}
	head, _ := repository.Reference(plumbing.HEAD) // a repository without one has none checked out
	refs, err := repository.References()
	if err != nil {
		return nil, status.Errorf(codes.FailedPrecondition, "read the branches of the repository: %v", err)
	}
	defer refs.Close()
	answer := &deckv1.ListBranchesResponse{}
	for read := 0; ; read++ {
		ref, err := refs.Next()
		if err != nil {
			break // io.EOF, or a reference that cannot be read: the others are worth showing
		}
		if read == maxRefs {
			answer.Truncated = true
			break
		}
		branch := branchOf(repository, ref)
		if branch == nil {
			continue
		}
		branch.CheckedOut = head != nil && head.Target() == ref.Name()
		branch.Base = ref.Name() == plumbing.NewBranchReferenceName(base)
		answer.Branches = append(answer.Branches, branch)
	}
	slices.SortFunc(answer.Branches, func(a, b *deckv1.Branch) int {
		return cmp.Or(b.GetCommittedAt().AsTime().Compare(a.GetCommittedAt().AsTime()),
			cmp.Compare(a.GetName(), b.GetName()))
	})
	if len(answer.Branches) > maxBranches {
		answer.Branches, answer.Truncated = answer.Branches[:maxBranches], true
	}
	return answer, nil
}

// PreviewBranch previews the newest commit of a branch.
func (s *Server) PreviewBranch(
	r *deckv1.PreviewBranchRequest, stream grpc.ServerStreamingServer[deckv1.PlanPreviewResponse],
) error {
	repository, _, err := s.watched()
	if err != nil {
		return err
	}
	if ref, err := repository.Branch(r.GetBranch()); err == nil && r.GetBranch() != "" {
		return s.previews.PlanPreview(&deckv1.PlanPreviewRequest{
			HeadCommit: ref.Hash().String(), HeadBranch: r.GetBranch(), Timeout: r.GetTimeout(),
		}, stream)
	}
	return status.Errorf(codes.NotFound, "there is no branch %q in the watched repository; list them with: "+
		"git branch --all", line.Cut(r.GetBranch(), maxSubject))
}

// watched opens the repository of the environment, and names the branch that is watched.
func (s *Server) watched() (repository *gitobjects.Repository, base string, err error) {
	environment := s.store.Environment.Described()
	dir := environment.GetRepository()
	if dir == "" {
		return nil, "", status.Error(codes.FailedPrecondition,
			"the environment watches no repository on this machine; use `pipectl plan-preview` for one on a server")
	}
	repository, err = gitobjects.Open(dir)
	if err != nil {
		return nil, "", status.Errorf(codes.FailedPrecondition, "open the watched repository %s: %v", dir, err)
	}
	return repository, environment.GetBranch(), nil
}

// branchOf describes a branch; nil for another reference, and for one whose commit is not there.
func branchOf(repository *gitobjects.Repository, ref *plumbing.Reference) *deckv1.Branch {
	name := ref.Name()
	if ref.Type() != plumbing.HashReference || !name.IsBranch() && !name.IsRemote() {
		return nil
	}
	commit, err := repository.Commit(ref.Hash())
	if err != nil {
		return nil
	}
	short := strings.TrimPrefix(strings.TrimPrefix(name.String(), "refs/heads/"), "refs/remotes/")
	return &deckv1.Branch{
		Name: short, Commit: ref.Hash().String(), Subject: line.Cut(line.First(commit.Message), maxSubject),
		CommittedAt: timestamppb.New(commit.When),
	}
}

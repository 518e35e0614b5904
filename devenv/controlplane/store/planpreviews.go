// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
)

const (
	// PipeCD v1: how long a piped may take over a plan preview when the request names no time.
	defaultPreviewTimeout = 5 * time.Minute
	// stalePreviewAfter is the time beyond it after which nobody asks for the result any more.
	stalePreviewAfter = time.Minute
)

// PlanPreviewTargets returns a command for every enabled piped that watches the branch of the
// repository, not stored yet.
func (s *Store) PlanPreviewTargets(remote, headBranch, headCommit, baseBranch string, timeout time.Duration) []*model.Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	var commands []*model.Command
	for _, p := range sorted(s.pipeds, func(a, b *piped) int { return cmp.Compare(a.model.GetId(), b.model.GetId()) }) {
		if p.model.GetDisabled() {
			continue
		}
		for _, r := range p.model.GetRepositories() {
			if r.GetRemote() != remote || r.GetBranch() != baseBranch {
				continue
			}
			commands = append(commands, &model.Command{
				PipedId: p.model.GetId(), Type: model.Command_BUILD_PLAN_PREVIEW, Commander: "pipectl",
				BuildPlanPreview: &model.Command_BuildPlanPreview{
					RepositoryId: r.GetId(), HeadBranch: headBranch, HeadCommit: headCommit, BaseBranch: baseBranch,
					Timeout: int64(timeout / time.Second),
				},
			})
		}
	}
	return commands
}

// WatchedRepositories are those that enabled pipeds have reported, each remote and branch once.
func (s *Store) WatchedRepositories() []*model.ApplicationGitRepository {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*model.ApplicationGitRepository
	seen := map[[2]string]bool{}
	for _, p := range sorted(s.pipeds, func(a, b *piped) int { return cmp.Compare(a.model.GetId(), b.model.GetId()) }) {
		for _, r := range p.model.GetRepositories() {
			if key := [2]string{r.GetRemote(), r.GetBranch()}; !p.model.GetDisabled() && !seen[key] {
				seen[key] = true
				list = append(list, r)
			}
		}
	}
	return list
}

// AwaitCommand returns a channel that is closed once the command is handled, which it may be already.
func (s *Store) AwaitCommand(id string) (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.commands.byID[id]
	if c == nil {
		return nil, notFound("Command is not found")
	}
	if c.GetStatus() != model.CommandStatus_COMMAND_NOT_HANDLED_YET {
		done := make(chan struct{})
		close(done)
		return done, nil
	}
	if s.commands.awaited == nil {
		s.commands.awaited = map[string]chan struct{}{}
	}
	if s.commands.awaited[id] == nil {
		s.commands.awaited[id] = make(chan struct{})
	}
	return s.commands.awaited[id], nil
}

// GiveUpCommand takes a command back that nobody waits for any more. One that was handled stays as it is.
func (s *Store) GiveUpCommand(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.commands.byID[id]; c != nil && c.GetStatus() == model.CommandStatus_COMMAND_NOT_HANDLED_YET {
		s.timeOut(c)
		s.signal(c.GetPipedId(), commandsChanged)
	}
}

// timeOut files a command as timed out. The caller holds s.mu.
func (s *Store) timeOut(c *model.Command) {
	now := s.now().Unix()
	c.Status, c.HandledAt, c.UpdatedAt = model.CommandStatus_COMMAND_TIMEOUT, now, now
	s.fileHandled(c, nil)
}

// stalePreview tells of a plan preview whose result nobody asks for any more.
func stalePreview(c *model.Command, now time.Time) bool {
	if c.GetType() != model.Command_BUILD_PLAN_PREVIEW {
		return false
	}
	timeout := cmp.Or(time.Duration(c.GetBuildPlanPreview().GetTimeout())*time.Second, defaultPreviewTimeout)
	return now.Sub(time.Unix(c.GetCreatedAt(), 0)) > timeout+stalePreviewAfter
}

// DecodePlanPreview reads what a piped has answered to a plan preview command (PipeCD v1: encoding/json).
// Text that is not UTF-8, which no message may hold, is mended.
func DecodePlanPreview(c *model.Command, output []byte) (*model.PlanPreviewCommandResult, error) {
	result := &model.PlanPreviewCommandResult{}
	switch {
	case c.GetStatus() == model.CommandStatus_COMMAND_TIMEOUT:
		result.Error = "Timed out, the piped did not handle the command in time."
	case len(output) == 0:
		result.Error = "The piped did not report a result; its log says why."
	default:
		if err := json.Unmarshal(output, result); err != nil {
			return nil, status.Errorf(codes.Internal, "read the result of command %s that the piped reported: %v", c.GetId(), err)
		}
	}
	// What a piped says of itself is not asked.
	result.CommandId, result.PipedId = c.GetId(), c.GetPipedId()
	result.Results = slices.DeleteFunc(result.Results, func(a *model.ApplicationPlanPreviewResult) bool { return a == nil })
	for _, a := range result.GetResults() {
		a.PluginPlanResults = slices.DeleteFunc(a.PluginPlanResults, func(r *model.PluginPlanPreviewResult) bool { return r == nil })
		a.PlanSummary = bytes.ToValidUTF8(a.GetPlanSummary(), mended)
		for _, one := range a.GetPluginPlanResults() {
			one.PlanSummary, one.PlanDetails = bytes.ToValidUTF8(one.GetPlanSummary(), mended), bytes.ToValidUTF8(one.GetPlanDetails(), mended)
		}
	}
	return result, nil
}

var mended = []byte("\uFFFD")

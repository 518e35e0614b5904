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
	// stalePreviewAfter is the time beyond it after which no one asks for the result any more.
	stalePreviewAfter = time.Minute
)

// PlanPreviewTargets returns a command for every enabled piped that watches the branch of the
// repository, not stored yet.
func (p *Pipeds) PlanPreviewTargets(
	remote, headBranch, headCommit, baseBranch string, timeout time.Duration,
) (commands []*model.Command) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.inOrder() {
		if one.model.GetDisabled() {
			continue
		}
		for _, r := range one.model.GetRepositories() {
			if r.GetRemote() != remote || r.GetBranch() != baseBranch {
				continue
			}
			commands = append(commands, &model.Command{
				PipedId: one.model.GetId(), Type: model.Command_BUILD_PLAN_PREVIEW, Commander: "pipectl",
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
func (p *Pipeds) WatchedRepositories() (list []*model.ApplicationGitRepository) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := map[[2]string]bool{}
	for _, one := range p.inOrder() {
		for _, r := range one.model.GetRepositories() {
			if key := [2]string{r.GetRemote(), r.GetBranch()}; !one.model.GetDisabled() && !seen[key] {
				seen[key] = true
				list = append(list, r)
			}
		}
	}
	return list
}

// stalePreview reports whether a command is a plan preview whose result no one asks for any more.
func stalePreview(c *model.Command, now time.Time) bool {
	if c.GetType() != model.Command_BUILD_PLAN_PREVIEW {
		return false
	}
	timeout := cmp.Or(time.Duration(c.GetBuildPlanPreview().GetTimeout())*time.Second, defaultPreviewTimeout)
	return now.Sub(time.Unix(c.GetCreatedAt(), 0)) > timeout+stalePreviewAfter
}

// DecodePlanPreview reads what a piped has answered to a plan preview command (PipeCD v1: encoding/json).
// Text that is not UTF-8, which no message may hold, is replaced there.
func DecodePlanPreview(c *model.Command, output []byte) (*model.PlanPreviewCommandResult, error) {
	result := &model.PlanPreviewCommandResult{}
	switch {
	case c.GetStatus() == model.CommandStatus_COMMAND_TIMEOUT:
		result.Error = "Timed out, the piped did not handle the command in time."
	case len(output) == 0:
		result.Error = "The piped did not report a result; its log says why."
	default:
		if err := json.Unmarshal(output, result); err != nil {
			return nil, status.Errorf(codes.Internal, "read the result of command %s that the piped reported: %v",
				c.GetId(), err)
		}
	}
	// What a piped says of itself is not asked.
	result.CommandId, result.PipedId = c.GetId(), c.GetPipedId()
	result.Results = slices.DeleteFunc(result.Results,
		func(a *model.ApplicationPlanPreviewResult) bool { return a == nil })
	for _, a := range result.GetResults() {
		a.PluginPlanResults = slices.DeleteFunc(a.PluginPlanResults,
			func(r *model.PluginPlanPreviewResult) bool { return r == nil })
		a.PlanSummary = bytes.ToValidUTF8(a.GetPlanSummary(), replacement)
		for _, one := range a.GetPluginPlanResults() {
			one.PlanSummary = bytes.ToValidUTF8(one.GetPlanSummary(), replacement)
			one.PlanDetails = bytes.ToValidUTF8(one.GetPlanDetails(), replacement)
		}
	}
	return result, nil
}

// replacement stands for bytes that are not UTF-8.
var replacement = []byte("\uFFFD")

// PlannedChanges reads the changes as data from what a piped of pipedeck has answered to a plan preview command, by the
// results that DecodePlanPreview has returned for it. Pipeds and plugins that do not report them have none.
func PlannedChanges(result *model.PlanPreviewCommandResult, output []byte,
) map[*model.PluginPlanPreviewResult]string {
	var answer struct {
		Changes []struct {
			Result, Target int
			Changes        json.RawMessage
		} `json:"pipedeck_changes"`
	}
	if json.Unmarshal(output, &answer) != nil {
		return nil
	}
	found := map[*model.PluginPlanPreviewResult]string{}
	for _, one := range answer.Changes {
		results := result.GetResults()
		if one.Result < 0 || one.Result >= len(results) {
			continue
		}
		targets := results[one.Result].GetPluginPlanResults()
		if one.Target >= 0 && one.Target < len(targets) && string(one.Changes) != "null" {
			found[targets[one.Target]] = string(bytes.ToValidUTF8(one.Changes, replacement))
		}
	}
	return found
}

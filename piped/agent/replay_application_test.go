// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"context"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// reported reports that the agent has made a call of a kind.
func reported[M proto.Message](s *stage) bool {
	return len(of[M](s.plane.calls, "")) > 0
}

// deployedBefore makes the control plane know the applications that plugins were asked about, deployed at the commit
// that they were asked for. The plugins report a change as soon as the agent has reported a state of each.
func deployedBefore(t *testing.T, s *stage) {
	t.Helper()
	requests := of[*livestate.GetLivestateRequest](s.recorded, "")
	v := &revision{recorded: requests[0].GetDeploySource().GetCommitHash(),
		commit: &model.Commit{Message: "deployed", Author: "dev", CreatedAt: 1795229964}}
	s.pipedID, s.remote = requests[0].GetPipedId(), "file:///srv/pipe/run/R2/repo.git"
	s.revisions = []*revision{v}
	s.push(t)
	s.running = v
	targets := map[string]*model.Application{}
	for _, c := range s.recorded {
		r, is := c.request.(*livestate.GetLivestateRequest)
		if !is {
			continue
		}
		a := targets[r.GetApplicationId()]
		if a == nil {
			a = newApplication(s, r.GetApplicationId(), r.GetApplicationName(),
				filepath.Base(r.GetDeploySource().GetApplicationDirectory()))
			targets[a.GetId()] = a
			s.plane.applications = append(s.plane.applications, a)
		}
		if len(r.GetDeployTargets()) > 0 {
			a.DeployTargetsByPlugin[c.link[len("piped>"):]] = &model.DeployTargets{DeployTargets: r.GetDeployTargets()}
		}
	}
	s.know()
	for _, p := range s.plugins {
		if p.name == "kubernetes" {
			p.reports = s.reportChanges
		}
	}
}

func newApplication(s *stage, id, name, path string) *model.Application {
	return &model.Application{
		Id: id, Name: name, PipedId: s.pipedID, ProjectId: "proj", CreatedAt: 1, UpdatedAt: 1,
		DeployTargetsByPlugin: map[string]*model.DeployTargets{},
		GitPath: &model.ApplicationGitPath{
			Repo: &model.ApplicationGitRepository{Id: "repo1", Remote: "file://" + s.repository, Branch: "main"},
			Path: path, ConfigFilename: "app.pipecd.yaml",
		},
	}
}

// rounds is how often the state of every application was reported, with the plane's lock held.
func (s *stage) rounds() int {
	count := map[string]int{}
	for _, r := range of[*pipedservice.ReportApplicationSyncStateRequest](s.plane.calls, "") {
		count[r.GetApplicationId()]++
	}
	least := count[s.plane.applications[0].GetId()]
	for _, a := range s.plane.applications {
		least = min(least, count[a.GetId()])
	}
	return least
}

// reportChanges answers at the end of the first and the second round, as the clock of PipeCD's piped did.
func (s *stage) reportChanges(ctx context.Context, position int64) (*livestate.AwaitChangesResponse, error) {
	answer := &livestate.AwaitChangesResponse{Instance: "one", Position: position + 1}
	if position == 0 {
		return answer, nil
	}
	wake := context.AfterFunc(ctx, s.plane.nudge)
	defer wake()
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	for ctx.Err() == nil && (position > 2 || s.rounds() < int(position)) {
		s.plane.changed.Wait()
	}
	answer.All = true
	return answer, ctx.Err()
}

// lookedAt reports that the state of every application was reported so often.
func lookedAt(times int) func(*stage) bool {
	return func(s *stage) bool { return s.rounds() >= times }
}

// polledTwice is for what the agent should not do: it has had the time of a poll to do it.
func polledTwice(s *stage) bool {
	return len(of[*pipedservice.ListUnhandledCommandsRequest](s.plane.calls, "")) > 1
}

// corrected reports that the agent has reported a configuration, and then had the time of a poll for what it should not
// do.
func corrected(s *stage) bool {
	return reported[*pipedservice.UpdateApplicationConfigurationsRequest](s) && polledTwice(s)
}

// registered makes the control plane list what was recorded: all applications, one of them with a description and
// labels that its configuration does not have.
func registered(t *testing.T, s *stage) {
	t.Helper()
	s.pipedID, s.remote = of[*pipedservice.UpdateApplicationConfigurationsRequest](s.recorded,
		controlPlaneLink)[0].GetApplications()[0].GetPipedId(), "file:///srv/pipe/run/R/repo.git"
	for _, c := range s.recorded {
		if list, is := c.response.(*pipedservice.ListApplicationsResponse); is && len(list.GetApplications()) == 12 {
			s.plane.applications = list.GetApplications()
			break
		}
	}
	for _, a := range s.plane.applications {
		a.GitPath.Repo.Remote = "file://" + s.repository
		s.put(t, a.GetGitPath().GetPath()+"/app.pipecd.yaml",
			"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec: {name: "+a.GetName()+", plugins: {wait: {}}}\n")
	}
	s.revisions = []*revision{{commit: &model.Commit{Message: "first", Author: "dev", CreatedAt: 1795229964}}}
	s.push(t)
}

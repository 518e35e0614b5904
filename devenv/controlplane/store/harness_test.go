// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

const (
	project = "proj"
	piped   = "piped-1"
)

// clock is a time that tests move on.
type clock struct{ t time.Time }

func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }

func newStore(limits store.Limits) (*store.Store, *clock) {
	c := &clock{time.Unix(1_795_230_000, 0)}
	s := store.New(store.Options{ProjectID: project, OwnPiped: piped, Now: c.now, Limits: limits})
	s.Pipeds.Add(piped, "p1", "", store.KeyHash{})
	return s, c
}

func importApplication(s *store.Store, id string, labels map[string]string) {
	s.Applications.Import(&model.Application{
		Id: id, Name: id, PipedId: piped, ProjectId: project, Labels: labels, CreatedAt: 1, UpdatedAt: 1,
		GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "r"}, Path: id},
	})
}

func newDeployment(id, application string) *model.Deployment {
	return &model.Deployment{
		Id: id, ApplicationId: application, ApplicationName: application, PipedId: piped, ProjectId: project,
		Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: "h"}},
	}
}

// run creates a deployment with one stage, "<id>-stage", and brings it to RUNNING.
func run(t testing.TB, s *store.Store, id, application string) (stage string) {
	t.Helper()
	stage = id + "-stage"
	require.NoError(t, s.Deployments.Create(piped, newDeployment(id, application)))
	require.NoError(t, s.Deployments.ReportPlanned(piped, &pipedservice.ReportDeploymentPlannedRequest{
		DeploymentId: id, Stages: []*model.PipelineStage{{Id: stage, Name: "WAIT"}},
	}))
	require.NoError(t, s.Deployments.ReportStatus(piped, id, model.DeploymentStatus_DEPLOYMENT_RUNNING, ""))
	return stage
}

func finish(t testing.TB, s *store.Store, id string, status model.DeploymentStatus) {
	t.Helper()
	require.NoError(t, s.Deployments.ReportCompleted(piped,
		&pipedservice.ReportDeploymentCompletedRequest{DeploymentId: id, Status: status, CompletedAt: 1}))
}

func blocks(from, n int64, text string) []*model.LogBlock {
	var all []*model.LogBlock
	for i := from; i < from+n; i++ {
		all = append(all, &model.LogBlock{Index: i, Log: fmt.Sprintf("%d %s", i, text), CreatedAt: 1})
	}
	return all
}

func requireCode(t *testing.T, want codes.Code, err error) {
	t.Helper()
	require.Equal(t, want, status.Code(err), "%v", err)
}

// everything is a page that holds a whole list.
var everything = store.Bounds{Items: 1 << 20, Bytes: 1 << 30}

func applicationsOf(s *store.Store, pipedID string) []*model.Application {
	all, _ := s.Applications.OfPiped(pipedID, "", "", everything)
	return all
}

func openOf(s *store.Store, pipedID string) []*model.Deployment {
	all, _ := s.Deployments.Open(pipedID, 0, everything)
	return all
}

func allDeployments(s *store.Store) []*model.Deployment {
	all, _ := s.Deployments.List(func(*model.Deployment) bool { return true }, store.Position{}, everything)
	return all
}

func allEvents(s *store.Store) []*model.Event {
	all, _, _ := s.Events.List(func(*model.Event) bool { return true }, false, "", everything)
	return all
}

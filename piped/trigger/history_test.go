// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/controlplane/controlplanetest"
)

// answers is a control plane with one answer for each method. It counts the calls.
type answers struct {
	mu    sync.Mutex
	by    map[string]proto.Message // nil for an empty answer; NotFound where a method has none
	calls []string
}

func (a *answers) dial(t *testing.T) *controlplane.Client {
	t.Helper()
	return controlplanetest.Dial(t, controlplanetest.Serve(t, a.answer), controlplane.Layers{})
}

func (a *answers) answer(_ context.Context, method string, _ proto.Message) (proto.Message, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, method)
	answer, known := a.by[method]
	if !known {
		return nil, status.Error(codes.NotFound, "none")
	}
	return answer, nil
}

// taken returns the methods that were called since the last time.
func (a *answers) taken() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	calls := a.calls
	a.calls = nil
	return calls
}

func triggered(application, id, commit string, at int64) *model.Deployment {
	return &model.Deployment{Id: id, ApplicationId: application, Status: model.DeploymentStatus_DEPLOYMENT_RUNNING,
		Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: commit}, Timestamp: at}}
}

func TestTheHistoryAsksTheControlPlaneOnceForWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	plane := &answers{by: map[string]proto.Message{
		"ListNotCompletedDeployments": &pipedservice.ListNotCompletedDeploymentsResponse{
			Deployments: []*model.Deployment{
				triggered("web", "older", "c1", 1), triggered("web", "newer", "c2", 2),
			},
		},
		"ReportApplicationMostRecentDeployment": nil,
	}}
	h := newHistory(plane.dial(t), slog.New(slog.DiscardHandler))
	web, shop := &model.Application{Id: "web"}, &model.Application{Id: "shop"}

	commit, err := h.previous(t.Context(), web)
	require.NoError(t, err)
	require.Equal(t, "c2", commit, "the newest of those under way")
	require.Equal(t, []string{"ListNotCompletedDeployments", "GetApplicationMostRecentDeployment",
		"ReportApplicationMostRecentDeployment"}, plane.taken(), "its piped was killed before it reported it")
	commit, err = h.previous(t.Context(), shop)
	require.NoError(t, err)
	require.Empty(t, commit, "never deployed")
	require.Equal(t, []string{"GetApplicationMostRecentDeployment"}, plane.taken(), "the open ones are listed once")

	h.looked(web, "c3")
	commit, err = h.previous(t.Context(), web)
	require.NoError(t, err)
	require.Equal(t, "c3", commit)
	require.Empty(t, plane.taken())
}

func TestTheHistoryForgetsTheDeploymentsOfApplicationsThatAreGone(t *testing.T) {
	t.Parallel()
	plane := &answers{by: map[string]proto.Message{
		"ReportApplicationMostRecentDeployment": nil,
		"GetDeployment": &pipedservice.GetDeploymentResponse{
			Deployment: triggered("web", "d", "c", 1),
		},
	}}
	h := newHistory(plane.dial(t), slog.New(slog.DiscardHandler))
	web := &model.Application{Id: "web"}
	last, err := h.lastDeployment(t.Context(), web)
	require.NoError(t, err)
	require.Nil(t, last)
	require.Empty(t, plane.taken(), "no one knows any")

	h.created(t.Context(), web, triggered("web", "d", "c", 1), "c")
	last, err = h.lastDeployment(t.Context(), web)
	require.NoError(t, err)
	require.Equal(t, "d", last.GetId())
	h.keep(func(string) bool { return true })
	require.Len(t, h.newest, 1)
	h.keep(func(string) bool { return false })
	require.Empty(t, h.newest)
}

func TestApplicationsAreListedAgainWhenTheyMayHaveChanged(t *testing.T) {
	t.Parallel()
	plane := &answers{by: map[string]proto.Message{"ListApplications": &pipedservice.ListApplicationsResponse{
		Applications: []*model.Application{{Id: "web", Name: "old", GitPath: &model.ApplicationGitPath{
			Repo: &model.ApplicationGitRepository{Id: "r"}, Path: "apps/web"}}},
	}}}
	lists := 0
	a := &applications{controlPlane: plane.dial(t), onList: func() { lists++ }}
	require.Nil(t, a.find("web"))
	for range 2 {
		a.begin(false)
		require.NoError(t, a.refresh(t.Context()))
	}
	require.Equal(t, 1, lists)
	require.False(t, a.fresh, "the second pass has not listed")
	a.begin(true)
	require.NoError(t, a.refresh(t.Context()))
	require.True(t, a.fresh)
	a.expire()
	plane.by = nil
	require.Error(t, a.refresh(t.Context()))
	require.False(t, a.current, "a list that failed is read again")
	require.Equal(t, "old", a.find("web").GetName(), "the last list stays")
	require.Equal(t, []string{fileKey("r", "apps/web/app.pipecd.yaml")}, slices.Collect(maps.Keys(a.byFile())))

	before := a.find("web")
	a.amend([]*model.ApplicationInfo{{Id: "web", Name: "new"}, {Id: "gone", Name: "gone"}})
	require.Equal(t, "new", a.find("web").GetName())
	require.Equal(t, "old", before.GetName(), "others may hold it")
}

func TestUnregisteredApplicationsAreReportedAgainToAControlPlaneThatForgetsThem(t *testing.T) {
	t.Parallel()
	const report = "ReportUnregisteredApplicationConfigurations"
	plane := &answers{by: map[string]proto.Message{report: nil, "ListApplications": nil}}
	client := plane.dial(t)
	registered := 0
	r := &registrar{controlPlane: client, pipedID: "p", onRegister: func() { registered++ },
		applications: &applications{controlPlane: client, onList: func() {}}}
	f := &file{path: "web/app.pipecd.yaml", name: "web", application: &config.Application{Name: "web"}}
	snapshots := map[string]snapshot{"r": {files: map[string]*file{f.path: f}}}

	require.NoError(t, r.report(t.Context(), snapshots))
	require.NoError(t, r.report(t.Context(), snapshots))
	require.Equal(t, []string{report}, plane.taken(), "the same list is reported once")
	require.NoError(t, r.applications.refresh(t.Context()))
	require.NoError(t, r.report(t.Context(), snapshots))
	require.Equal(t, []string{"ListApplications", report}, plane.taken(), "and again when it still is not listed")
	require.Equal(t, 1, registered, "only a new list may bring new applications")
	require.NoError(t, r.report(t.Context(), nil))
	require.Equal(t, []string{report}, plane.taken(), "the list without it")
}

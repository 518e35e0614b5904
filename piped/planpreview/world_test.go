// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planpreview_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/piped/planpreview"
	"github.com/pipedeck/pipedeck/piped/pluginhost/plugintest"
	"github.com/pipedeck/pipedeck/piped/source"
	"github.com/pipedeck/pipedeck/system/gittest"
)

var testPlugin string

func TestMain(m *testing.M) { plugintest.Main(m, &testPlugin) }

// controlPlane keeps what it receives; success is the last successful deployment of every application, and calls are
// the questions for it and the answers to commands.
type controlPlane struct {
	pipedservice.PipedServiceClient
	applications []*model.Application

	mu      sync.Mutex
	success *model.ApplicationDeploymentReference
	handled map[string]*pipedservice.ReportCommandHandledRequest
	changed chan struct{}
	refuse  error
	calls   []string
}

func (c *controlPlane) ListApplications(
	context.Context, *pipedservice.ListApplicationsRequest, ...grpc.CallOption,
) (*pipedservice.ListApplicationsResponse, error) {
	return &pipedservice.ListApplicationsResponse{Applications: c.applications}, nil
}

func (c *controlPlane) GetApplicationMostRecentDeployment(
	_ context.Context, r *pipedservice.GetApplicationMostRecentDeploymentRequest, _ ...grpc.CallOption,
) (*pipedservice.GetApplicationMostRecentDeploymentResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, "GetApplicationMostRecentDeployment "+r.GetApplicationId()+" "+r.GetStatus().String())
	if c.success == nil {
		return nil, status.Error(codes.NotFound, "none")
	}
	return &pipedservice.GetApplicationMostRecentDeploymentResponse{Deployment: c.success}, nil
}

func (c *controlPlane) ReportCommandHandled(
	_ context.Context, r *pipedservice.ReportCommandHandledRequest, _ ...grpc.CallOption,
) (*pipedservice.ReportCommandHandledResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refuse != nil {
		err := c.refuse
		c.refuse = nil
		c.notify()
		return nil, err
	}
	c.calls = append(c.calls, "ReportCommandHandled "+r.GetCommandId()+" "+r.GetStatus().String())
	c.handled[r.GetCommandId()] = r
	c.notify()
	return &pipedservice.ReportCommandHandledResponse{}, r.Validate()
}

func (c *controlPlane) notify() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// await returns when the condition holds after some report.
func (c *controlPlane) await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for limit := time.After(2 * time.Minute); ; {
		c.mu.Lock()
		changed, met := c.changed, condition()
		c.mu.Unlock()
		if met {
			return
		}
		select {
		case <-changed:
		case <-limit:
			require.FailNow(t, "waited in vain for "+what)
		}
	}
}

// world is a repository of a user, a maker of plan previews that watches it, and a control plane.
type world struct {
	t      *testing.T
	dir    string
	plane  *controlPlane
	maker  *planpreview.Maker
	mirror *git.Repository
	counts chan string
}

type worldOptions struct {
	preview string // of plugin deployer
	mask    func(string) string
	limits  config.PlanPreview
	plugins []config.Plugin // in place of deployer and steps
}

func newWorld(t *testing.T, o worldOptions) *world {
	t.Helper()
	w := &world{
		t: t, dir: gittest.Init(t), counts: make(chan string, 100),
		plane: &controlPlane{
			handled: map[string]*pipedservice.ReportCommandHandledRequest{}, changed: make(chan struct{}),
		},
	}
	if o.preview == "" {
		o.preview = "value"
	}
	var err error
	if o.plugins == nil {
		o.plugins = []config.Plugin{
			plugin(t, "steps", map[string]any{"stages": []string{"WAIT"}}),
			plugin(
				t, "deployer",
				map[string]any{
					"stages": []string{"SYNC", "ROLLOUT"}, "quick": "SYNC", "strategy": "PIPELINE",
					"preview": o.preview,
				},
			),
		}
	}
	w.mirror, err = git.Open(
		t.Context(), git.Options{ID: "repo1", Remote: w.dir, Branch: "main", Dir: filepath.Join(t.TempDir(), "mirror")},
	)
	require.NoError(t, err)
	store, err := source.New(source.Options{Dir: filepath.Join(t.TempDir(), "sources")})
	require.NoError(t, err)
	plans := planner.New(planner.Options{
		Plugins: plugintest.Host(t, o.plugins...), ControlPlane: w.plane,
		Sources: source.NewSources(store, map[string]*git.Repository{"repo1": w.mirror}, nil),
	})
	w.maker = planpreview.New(planpreview.Options{
		ProjectID: "project", PipedID: "piped", Repositories: []*git.Repository{w.mirror}, ControlPlane: w.plane,
		Planner: plans,
		Targets: map[string][]string{"deployer": {"local"}}, Mask: o.mask, Limits: o.limits,
		Received: func() { w.counts <- "received" },
		Handled:  func(s model.CommandStatus, _ time.Duration) { w.counts <- s.String() },
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.maker.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, store.Close())
	})
	return w
}

// plugin is an entry of the piped configuration for the test plugin.
func plugin(t *testing.T, name string, settings map[string]any) config.Plugin {
	t.Helper()
	return plugintest.Entry(t, name, testPlugin, settings)
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	return gittest.Run(w.t, w.dir, args...)
}

// commit writes files, removes those with empty contents, and commits.
func (w *world) commit(files map[string]string) string {
	w.t.Helper()
	for name, content := range files {
		if content == "" {
			require.NoError(w.t, os.Remove(filepath.Join(w.dir, name)))
			continue
		}
		gittest.Write(w.t, w.dir, name, content)
	}
	return gittest.Commit(w.t, w.dir, "change")
}

const quickOnly = "  plugins: {deployer: {}}\n"

const withPipeline = "  pipeline: {stages: [{name: ROLLOUT}, {name: WAIT}]}\n"

func appConfig(name, rest string) string {
	return "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: " + name + "\n" + rest
}

// register makes an application known that was deployed at the commit; empty for never.
func (w *world) register(name, deployed string) {
	a := &model.Application{
		Id: "id-" + name, Name: name, PipedId: "piped", ProjectId: "project",
		GitPath: &model.ApplicationGitPath{
			Repo: &model.ApplicationGitRepository{Id: "repo1"}, Path: name, ConfigFilename: "app.pipecd.yaml",
		},
		DeployTargetsByPlugin: map[string]*model.DeployTargets{"deployer": {DeployTargets: []string{"local"}}},
	}
	if deployed != "" {
		reference := &model.ApplicationDeploymentReference{
			DeploymentId: "d", ConfigFilename: "app.pipecd.yaml", StartedAt: 1,
			Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: deployed}, Timestamp: 1},
		}
		a.MostRecentlyTriggeredDeployment, w.plane.success = reference, reference
	}
	w.plane.applications = append(w.plane.applications, a)
}

func command(id, head string) *model.Command {
	return &model.Command{
		Id: id, PipedId: "piped", ProjectId: "project", Type: model.Command_BUILD_PLAN_PREVIEW,
		CreatedAt: time.Now().Unix(),
		BuildPlanPreview: &model.Command_BuildPlanPreview{
			RepositoryId: "repo1", HeadBranch: "feature", HeadCommit: head, BaseBranch: "main", Timeout: 60,
		},
	}
}

// preview asks and waits for the answer.
func (w *world) preview(c *model.Command) *model.PlanPreviewCommandResult {
	w.t.Helper()
	w.maker.HandleCommands(w.t.Context(), []*model.Command{c})
	return w.answer(c.GetId())
}

func (w *world) answer(id string) *model.PlanPreviewCommandResult {
	w.t.Helper()
	w.plane.await(w.t, "the answer to "+id, func() bool { return w.plane.handled[id] != nil })
	w.plane.mu.Lock()
	report := w.plane.handled[id]
	w.plane.mu.Unlock()
	result := &model.PlanPreviewCommandResult{}
	require.NoError(w.t, json.Unmarshal(report.GetOutput(), result))
	require.Equal(w.t, result.GetError() != "", report.GetStatus() == model.CommandStatus_COMMAND_FAILED)
	return result
}

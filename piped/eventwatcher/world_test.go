// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package eventwatcher

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/system/clock/clocktest"
	"github.com/pipedeck/pipedeck/system/filetest"
	"github.com/pipedeck/pipedeck/system/gittest"
)

// plane keeps applications and events as a control plane does.
type plane struct {
	ps.PipedServiceClient
	mu           sync.Mutex
	applications []*model.Application
	events       []*model.Event
	refuse       error
	reported     chan struct{}
}

func (p *plane) ListApplications(
	context.Context, *ps.ListApplicationsRequest, ...grpc.CallOption,
) (*ps.ListApplicationsResponse, error) {
	return &ps.ListApplicationsResponse{Applications: p.applications}, nil
}

func (p *plane) ListEvents(
	_ context.Context, r *ps.ListEventsRequest, _ ...grpc.CallOption,
) (*ps.ListEventsResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse != nil {
		return nil, p.refuse
	}
	answer := &ps.ListEventsResponse{}
	for i := len(p.events) - 1; i >= 0; i-- {
		if e := p.events[i]; e.GetStatus() == model.EventStatus_EVENT_NOT_HANDLED && e.GetCreatedAt() >= r.GetFrom() {
			answer.Events = append(answer.Events, proto.CloneOf(e))
		}
	}
	return answer, nil
}

func (p *plane) GetLatestEvent(
	_ context.Context, r *ps.GetLatestEventRequest, _ ...grpc.CallOption,
) (*ps.GetLatestEventResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.events) - 1; i >= 0; i-- {
		if e := p.events[i]; keyOf(e.GetName(), e.GetLabels()) == keyOf(r.GetName(), r.GetLabels()) {
			return &ps.GetLatestEventResponse{Event: proto.CloneOf(e)}, nil
		}
	}
	return nil, status.Error(codes.NotFound, "no such event")
}

func (p *plane) ReportEventStatuses(
	_ context.Context, r *ps.ReportEventStatusesRequest, _ ...grpc.CallOption,
) (*ps.ReportEventStatusesResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse != nil {
		return nil, p.refuse
	}
	for _, o := range r.GetEvents() {
		for _, e := range p.events {
			if e.GetId() == o.GetId() {
				e.Status, e.StatusDescription = o.GetStatus(), o.GetStatusDescription()
			}
		}
	}
	select {
	case p.reported <- struct{}{}:
	default:
	}
	return &ps.ReportEventStatusesResponse{}, nil
}

func (p *plane) setRefusal(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = err
}

// register adds an event that came some time ago and returns its id.
func (p *plane) register(ago time.Duration, name, value string, labels map[string]string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := fmt.Sprintf("event-%d", len(p.events))
	p.events = append(
		p.events, &model.Event{Id: id, Name: name, Data: value, Labels: labels, CreatedAt: time.Now().Add(-ago).Unix()},
	)
	return id
}

func (p *plane) status(id string) (model.EventStatus, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.events {
		if e.GetId() == id {
			return e.GetStatus(), e.GetStatusDescription()
		}
	}
	return -1, ""
}

func (p *plane) require(t *testing.T, id string, want model.EventStatus, description string) {
	t.Helper()
	got, text := p.status(id)
	require.Equal(t, want, got, "%s", text)
	require.Contains(t, text, description)
}

// repository is a bare one, as on a server, and the user's clone of it.
type repository struct {
	t         testing.TB
	dir, bare string
}

func newRepository(t testing.TB, files map[string]string) *repository {
	t.Helper()
	r := &repository{t: t, dir: gittest.Init(t), bare: filepath.Join(t.TempDir(), "bare.git")}
	r.commit(files)
	r.git("clone", "-q", "--bare", r.dir, r.bare)
	r.git("remote", "add", "origin", r.bare)
	return r
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	return gittest.Run(r.t, r.dir, args...)
}

func (r *repository) commit(files map[string]string) {
	r.t.Helper()
	filetest.Write(r.t, r.dir, files)
	gittest.Commit(r.t, r.dir, "By a user")
}

// pushed returns a file of a branch of the bare repository.
func (r *repository) pushed(branch, file string) string {
	r.t.Helper()
	return r.git("-C", r.bare, "show", branch+":"+file)
}

func (r *repository) commits(branch string) int {
	r.t.Helper()
	return len(strings.Fields(r.git("-C", r.bare, "rev-list", branch)))
}

// application is the configuration of an application with rules of the event watcher.
func application(rules string) string {
	return "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: shop\n  eventWatcher:\n" + rules
}

const imageRule = `    - matcher: {name: image}
      handler:
        type: GIT_UPDATE
        config:
          replacements: [{file: deployment.yaml, yamlField: $.spec.image}]
`

const manifest = "spec:\n  image: shop:v1 # by CI\n"

func registered(name, dir string) *model.Application {
	return &model.Application{
		Id: name, Name: name,
		GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "apps"}, Path: dir},
	}
}

// mirror opens the repository as piped does.
func mirror(t *testing.T, id, remote string) *git.Repository {
	t.Helper()
	r, err := git.Open(t.Context(), git.Options{ID: id, Remote: remote, Branch: "main", Dir: t.TempDir()})
	require.NoError(t, err)
	return r
}

// world is a Watcher with one repository and one application, in the directory shop.
type world struct {
	*Watcher
	plane *plane
	repo  *repository
}

func newWorld(t *testing.T, files map[string]string, adjust ...func(*Options)) *world {
	t.Helper()
	w := &world{
		plane: &plane{applications: []*model.Application{registered("shop", "shop")}, reported: make(chan struct{}, 1)},
		repo:  newRepository(t, files),
	}
	o := Options{
		ControlPlane: w.plane, Repositories: []*git.Repository{mirror(t, "apps", "file://"+w.repo.bare)}, Name: "piped",
		Email: "piped@localhost",
		Clock: clocktest.Clock{Timer: clocktest.Eager{}},
	}
	for _, change := range adjust {
		change(&o)
	}
	w.Watcher = New(o)
	return w
}

func (w *world) run(t *testing.T) (open bool) {
	t.Helper()
	open, err := w.pass(t.Context())
	require.NoError(t, err)
	return open
}

func configOf(repo config.EventWatcherRepository) func(*Options) {
	return func(o *Options) { o.Config.GitRepos = []config.EventWatcherRepository{repo} }
}

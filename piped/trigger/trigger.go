// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/clock"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
)

const (
	// A pass or a look that failed is repeated after a pause that doubles between these.
	firstPause   = time.Second
	longestPause = time.Minute
	// maxCommits bounds the memory of commits that were looked at, by applications. Beyond it each pass asks the
	// control plane for those that were forgotten. PipeCD v1: 500.
	maxCommits = 10_000
)

// Deployments takes new deployments; they are not changed afterwards.
type Deployments interface {
	Submit(deployments ...*model.Deployment)
}

// PluginReporter takes the plugins that applications use; Unimplemented where the control plane has no use for them.
type PluginReporter interface {
	ReportApplicationPlugins(
		context.Context, *agentv1.ReportApplicationPluginsRequest, ...grpc.CallOption,
	) (*agentv1.ReportApplicationPluginsResponse, error)
}

// Options are what a Trigger needs.
type Options struct {
	ProjectID, PipedID string
	// AppSelector holds the labels that an application must have to be reported when it is not registered.
	AppSelector map[string]string
	// Repositories are run by someone else; the Trigger is the only one that listens to Changed.
	Repositories []*git.Repository
	ControlPlane pipedservice.PipedServiceClient
	// Deployments gets what was created, before the control plane could tell of it.
	Deployments Deployments
	// Uses names the plugins that an application uses; false while that is not known. PluginReporter gets the names.
	// Both may be nil.
	Uses           func(*config.Application) (plugins []string, known bool)
	PluginReporter PluginReporter
	// Broken is told, once for each change, of a configuration that cannot be used, which keeps the
	// application from being deployed at commit. It may be nil, and must return at once.
	Broken func(application *model.Application, commit *model.Commit, reason string)
	// Looked gets the outcome of each look at a repository, Passed that of each pass. They may be nil, and must return
	// at once.
	Looked func(repository *git.Repository, err error)
	Passed func(err error)
	// Interval is the time between two looks at sync states, which no event reports, while any application
	// has onOutOfSync or a broken configuration. Default 1m (PipeCD v1: syncInterval).
	Interval time.Duration
	// Clock is the system's when nil.
	Clock  clock.Clock
	Logger *slog.Logger
}

// Trigger creates deployments. Its state belongs to Run; other methods only leave news for it.
type Trigger struct {
	options      Options
	logger       *slog.Logger
	repositories map[string]*repository
	wake         chan struct{}

	mu   sync.Mutex
	news news

	// What is known, across passes.
	listed       bool
	applications []*model.Application
	byID         map[string]int               // index in applications
	unregistered []*model.ApplicationInfo     // as reported last
	uses         map[string][]string          // plugins as reported last, by repository and configuration file
	commits      *memory                      // looked at last, by application
	open         map[string]*model.Deployment // found at the start, by application; nil before that
	newest       map[string]string            // ids of deployments created here, by application
	mistakes     map[string]mistake           // by application
	commands     []*model.Command
	answered     map[string]bool // commands
	looks        map[string]int  // the look that a command waits for

	// Of the pass under way.
	snapshots map[string]snapshot
	freshList bool
	again     bool          // another pass follows at once
	next      time.Duration // until another pass is needed; 0 for none
}

// news is what has happened since the last pass.
type news struct {
	applications bool
	newCommands  bool
	commands     []*model.Command
}

// New makes a Trigger; nothing starts before Run.
func New(options Options) *Trigger {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Clock == nil {
		options.Clock = clock.System{}
	}
	if options.Interval <= 0 {
		options.Interval = time.Minute
	}
	if options.Looked == nil {
		options.Looked = func(*git.Repository, error) {}
	}
	if options.Passed == nil {
		options.Passed = func(error) {}
	}
	t := &Trigger{
		options:      options,
		logger:       options.Logger,
		repositories: map[string]*repository{},
		wake:         make(chan struct{}, 1),
		uses:         map[string][]string{},
		commits:      newMemory(maxCommits),
		newest:       map[string]string{},
		mistakes:     map[string]mistake{},
		answered:     map[string]bool{},
		looks:        map[string]int{},
	}
	for _, mirror := range options.Repositories {
		t.repositories[mirror.ID()] = newRepository(mirror, options.Clock, t.logger, func(err error) {
			options.Looked(mirror, err)
			t.nudge()
		})
	}
	return t
}

// PluginsSettled says that Uses may know more.
func (t *Trigger) PluginsSettled() { t.nudge() }

// ApplicationsChanged says that ListApplications has a new answer.
func (t *Trigger) ApplicationsChanged() {
	t.mark(func(n *news) { n.applications = true })
}

func (t *Trigger) mark(change func(*news)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.news)
	t.nudge()
}

func (t *Trigger) nudge() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Run makes a pass at once and after every piece of news, until ctx ends. It always returns nil.
func (t *Trigger) Run(ctx context.Context) error {
	var follows sync.WaitGroup
	defer follows.Wait()
	for _, r := range t.repositories {
		follows.Go(func() { r.run(ctx) })
	}
	t.nudge()
	backoff, told := clock.NewBackoff(firstPause, longestPause), ""
	var later <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.wake:
		case <-later:
			t.ApplicationsChanged() // sync states come with the list
		}
		err := t.pass(ctx)
		if ctx.Err() != nil {
			return nil
		}
		t.options.Passed(err)
		switch {
		case err == nil:
			backoff.Reset()
			told = ""
			later = t.inTime(t.next)
		default:
			if err.Error() != told {
				t.logger.Error("not everything could be triggered or reported; it is tried again", "error", err)
				told = err.Error()
			}
			later = t.inTime(backoff.Next())
		}
		if t.again {
			t.nudge()
		}
	}
}

func (t *Trigger) inTime(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return t.options.Clock.After(d)
}

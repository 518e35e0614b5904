// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/system/clock"
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

// Options are what a Trigger needs.
type Options struct {
	ProjectID, PipedID string
	// AppSelector holds the labels that an application must have to be reported when it is not registered.
	AppSelector map[string]string
	// Repositories are run by someone else; the Trigger is the only one that listens to Changed.
	Repositories []*git.Repository
	ControlPlane pipedservice.PipedServiceClient
	// Deployments gets what was created, before the control plane could report it.
	Deployments Deployments
	// Uses names the plugins that an application uses; false while that is not known. PluginReporter gets the names.
	// Both may be nil.
	Uses           func(*config.Application) (plugins []string, known bool)
	PluginReporter PluginReporter
	// Broken gets, once for each change, a configuration that cannot be used, which keeps the application from
	// being deployed at commit. It may be nil, and must return at once.
	Broken func(application *model.Application, commit *model.Commit, reason string)
	// Configured gets, with each pass, all applications whose repository could be read. It may be nil, and must return
	// at once.
	Configured func([]Configured)
	// Unregistered gets, with each pass, the configurations whose applications cannot be registered. It may be nil, and
	// must return at once.
	Unregistered func([]Unregistered)
	// Removals says what becomes of applications that are deleted in Git.
	Removals Removals
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

// Trigger creates deployments. Its state belongs to Run; other methods only leave news in the inbox.
type Trigger struct {
	options      Options
	logger       *slog.Logger
	repositories map[string]*repository
	inbox        *inbox

	// What is known, across passes.
	applications *applications
	registrar    *registrar
	commands     *commands
	history      *history
	mistakes     *mistakes
	schedule     *schedule
	// settled are the applications, by id, whose newest deployment calls for no retry.
	settled map[string]bool
	// underway counts, by application, the deployments that were created here and have not ended.
	underway map[string]int
	// newest is when the newest deployment was created here.
	newest time.Time

	removals *removals

	// Of the pass under way.
	snapshots map[string]snapshot
	again     bool // another pass follows at once
}

// New creates a Trigger; nothing starts before Run.
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
	if options.Configured == nil {
		options.Configured = func([]Configured) {}
	}
	if options.Unregistered == nil {
		options.Unregistered = func([]Unregistered) {}
	}
	if options.Passed == nil {
		options.Passed = func(error) {}
	}
	t := &Trigger{
		options:      options,
		logger:       options.Logger,
		repositories: map[string]*repository{},
		inbox:        newInbox(),
		commands:     newCommands(),
		history:      newHistory(options.ControlPlane, options.Logger),
		mistakes: &mistakes{
			controlPlane: options.ControlPlane, clock: options.Clock, logger: options.Logger, broken: options.Broken,
			known: map[string]mistake{},
		},
		schedule: newSchedule(options.Clock),
		settled:  map[string]bool{},
		underway: map[string]int{},
		removals: newRemovals(options.Removals),
	}
	t.applications = &applications{controlPlane: options.ControlPlane, onList: t.listed}
	t.registrar = &registrar{
		controlPlane: options.ControlPlane, applications: t.applications, pipedID: options.PipedID,
		selector:   options.AppSelector,
		plugins:    pluginUses{uses: options.Uses, reporter: options.PluginReporter},
		onRegister: t.ApplicationsChanged, moves: newMoves(t.repositories, t.history, options.Logger),
	}
	for _, mirror := range options.Repositories {
		t.repositories[mirror.ID()] = newRepository(mirror, options.Clock, t.logger, func(err error) {
			options.Looked(mirror, err)
			t.inbox.nudge()
		})
	}
	return t
}

// PluginsSettled says that Uses may know more.
func (t *Trigger) PluginsSettled() { t.inbox.nudge() }

// ApplicationsChanged says that ListApplications has a new answer.
func (t *Trigger) ApplicationsChanged() { t.inbox.applicationsChanged() }

// DeploymentEnded says that a deployment of the application has ended, and that its sync state was reported.
func (t *Trigger) DeploymentEnded(application string) { t.inbox.deploymentEnded(application) }

// HandleCommands takes an answer of ListUnhandledCommands and acts on those that sync an application. It
// does not wait for that.
func (t *Trigger) HandleCommands(unhandled []*model.Command) {
	unhandled = slices.DeleteFunc(slices.Clone(unhandled), func(c *model.Command) bool {
		return c.GetType() != model.Command_SYNC_APPLICATION && c.GetType() != model.Command_CHAIN_SYNC_APPLICATION
	})
	t.inbox.commandsListed(unhandled)
}

// Run makes a pass at once and after every piece of news, until ctx ends. It always returns nil.
func (t *Trigger) Run(ctx context.Context) error {
	var follows sync.WaitGroup
	defer follows.Wait()
	for _, r := range t.repositories {
		follows.Go(func() { r.run(ctx) })
	}
	t.inbox.nudge()
	logged := "" // the failure of the passes before
	var later <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.inbox.wake:
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
			logged = ""
		case err.Error() != logged:
			t.logger.Error("not everything could be triggered or reported; it is tried again", "error", err)
			logged = err.Error()
		}
		later = t.schedule.end(err)
		if t.again {
			t.inbox.nudge()
		}
	}
}

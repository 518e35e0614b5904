// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"google.golang.org/grpc"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// defaultInterval is PipeCD v1's; an application whose plugins report changes is looked at less often.
	defaultInterval = time.Minute
	pushedInterval  = 10 * time.Minute
	// From the start of one look at an application to the next is lookRest times what the last one took, within these
	// bounds: a flood of its changes must not become a flood of looks, and what is cheap to look at need not wait.
	lookRest   = 10
	leastPause = 50 * time.Millisecond
	mostPause  = 500 * time.Millisecond
	// firstPause and longestPause bound the time to the next try after a failure.
	firstPause   = time.Second
	longestPause = time.Minute

	// listAge is how old the list of applications may be at a look; the end of a deployment asks for a new one.
	listAge = 5 * time.Second
	// Between two lists is listRest times what the last one took, at most longestListRest: each end of a deployment
	// asks for one, and a list of a thousand applications takes its time.
	listRest        = 10
	longestListRest = time.Second

	defaultParallel = 4
)

// Source is an application's directory at one commit.
type Source interface {
	Proto() *common.DeploymentSource
	// Close removes the directory.
	Close() error
}

// Plugin is a plugin that may know live states; gRPC's Unimplemented says that it does not.
type Plugin struct {
	Name      string
	Livestate livestate.LivestateServiceClient
	Changes   livestate.LivestateChangeServiceClient
	Drift     livestate.LivestateDriftServiceClient
}

// Drifts is the part of a control plane that takes the fields of drifts; gRPC's Unimplemented says that it does not.
type Drifts interface {
	ReportDrift(
		ctx context.Context, r *agentv1.ReportDriftRequest, opts ...grpc.CallOption,
	) (*agentv1.ReportDriftResponse, error)
}

// Options are what a Reporter needs.
type Options struct {
	PipedID, ProjectID string
	ControlPlane       pipedservice.PipedServiceClient
	Drifts             Drifts
	Plugins            []Plugin
	// Deployments gives notice of deployments that begin and end, and of sync states. The Reporter is its only
	// subscriber.
	Deployments *Deployments
	// Prepare makes the directory of an application at a commit. An empty configFilename stands for the one that the
	// application names.
	Prepare func(ctx context.Context, a *model.Application, commit, configFilename string) (Source, error)
	// OutOfSync is called after a drift was reported; nil for no one.
	OutOfSync func()
	// Interval is the time between two looks at an application whose plugins do not report changes. Default: 1 minute.
	Interval time.Duration
	// Parallel bounds the looks at the same time, without those that have lasted for long. Default: 4.
	Parallel int
	// LookTimeout bounds one look. Default: 10 minutes.
	LookTimeout time.Duration
	// Looks gets how looks go that last for long or that users ask for; nil for no one.
	Looks Looks
	// Clock is the system's when nil.
	Clock  clock.Clock
	Logger *slog.Logger
}

// Reporter looks at live states. Run owns its goroutines.
type Reporter struct {
	options Options
	logger  *slog.Logger
	wake    chan struct{}

	mu           sync.Mutex
	relist       bool
	listed       time.Time
	listAgain    time.Time // not before
	applications map[string]*application
	plugins      map[string]*pluginState
	running      int // looks
	slow         int // looks that have lasted for long, which running does not count
	// pending is what was not reported of looks yet, by application; pended is notified of it.
	pending map[string]*agentv1.Look
	pended  chan struct{}
	// driftless is until when the control plane is taken for one that takes no fields of drifts.
	driftless time.Time
}

// application is what is known about one between looks.
type application struct {
	model *model.Application
	// due is when it is looked at next; zero for not before someone says so.
	due     time.Time
	last    time.Time // the start of the last look
	took    time.Duration
	looking bool
	// ordered is the number of the last order of a user to look, answered that of the last one that a look began for.
	ordered, answered uint64
	// changed says that something has happened since the last look began.
	changed  bool
	reported reported
	failures int    // looks that failed since the last that did not
	logged   string // the failure that was logged
	// live is what was last reported of its objects. Only its looks read and write it, one at a time.
	live *model.ApplicationLiveState
}

// New creates a Reporter; nothing starts before Run.
func New(options Options) *Reporter {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Clock == nil {
		options.Clock = clock.System{}
	}
	if options.Interval <= 0 {
		options.Interval = defaultInterval
	}
	if options.Parallel <= 0 {
		options.Parallel = defaultParallel
	}
	if options.LookTimeout <= 0 {
		options.LookTimeout = defaultLookTimeout
	}
	r := &Reporter{
		options: options, logger: options.Logger, wake: make(chan struct{}, 1), relist: true,
		applications: map[string]*application{}, plugins: map[string]*pluginState{},
		pending: map[string]*agentv1.Look{}, pended: make(chan struct{}, 1),
	}
	for _, p := range options.Plugins {
		r.plugins[p.Name] = &pluginState{}
	}
	if options.Deployments != nil {
		options.Deployments.subscribe(r.setDeploying, r.setSync, r.lookAgain)
	}
	return r
}

// ApplicationsChanged says that ListApplications has a new answer.
func (r *Reporter) ApplicationsChanged() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.relist = true
	r.nudge()
}

// changed says that an application may live otherwise; it is skipped when it is not known.
func (r *Reporter) changed(ids ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		if a := r.applications[id]; a != nil {
			a.changed = true
		}
	}
	r.nudge()
}

func (r *Reporter) changedAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.applications {
		a.changed = true
	}
	r.nudge()
}

func (r *Reporter) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run looks until ctx ends, and returns when all looks have. It always returns nil.
func (r *Reporter) Run(ctx context.Context) error {
	var work sync.WaitGroup
	defer work.Wait()
	for _, p := range r.options.Plugins {
		work.Go(func() { r.follow(ctx, p) })
	}
	work.Go(func() { r.reportLooks(ctx) })
	r.nudge()
	backoff := clock.NewBackoff(firstPause, longestPause)
	var later <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.wake:
		case <-later:
		}
		next, err := r.round(ctx, &work)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			r.logger.Warn(
				"could not list the applications to look at their live states; it is tried again", "error", err,
			)
			next = backoff.Next()
		default:
			backoff.Reset()
		}
		later = nil
		if next > 0 {
			later = r.options.Clock.After(next)
		}
	}
}

// round starts the looks that are due, and reports how long there will be none by the clock; 0 for ever.
func (r *Reporter) round(ctx context.Context, work *sync.WaitGroup) (time.Duration, error) {
	list, rest := r.takeRelist()
	if rest > 0 {
		return rest, nil
	}
	if list {
		if err := r.list(ctx); err != nil {
			r.mu.Lock()
			r.relist = true
			r.mu.Unlock()
			return 0, err
		}
	}
	now := r.options.Clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.applications {
		if r.running == r.options.Parallel {
			break
		}
		if !a.isDue(now) {
			continue
		}
		l := r.begin(a, now)
		work.Go(func() { r.lookAt(ctx, l) })
	}
	return r.untilNext(), nil
}

// untilNext reports how long it will be until a look is due; 0 for ever.
func (r *Reporter) untilNext() (in time.Duration) {
	if r.running == r.options.Parallel {
		return 0 // the end of one wakes Run
	}
	now := r.options.Clock.Now()
	for _, a := range r.applications {
		if next := a.next(); !next.IsZero() && (in == 0 || next.Sub(now) < in) {
			in = max(next.Sub(now), time.Millisecond)
		}
	}
	return in
}

func (a *application) isDue(now time.Time) bool {
	next := a.next()
	return !next.IsZero() && !next.After(now)
}

// next is when the application may be looked at; zero for not before something happens.
func (a *application) next() time.Time {
	switch {
	case a.looking:
		return time.Time{}
	case a.changed:
		return a.last.Add(min(max(leastPause, lookRest*a.took), mostPause))
	}
	return a.due
}

// takeRelist reports whether the applications have to be listed: because of news, or because an old list would decide
// about a look. While rest is positive they should be, but not yet.
func (r *Reporter) takeRelist() (list bool, rest time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.options.Clock.Now()
	if r.relist && now.Before(r.listAgain) {
		return false, r.listAgain.Sub(now)
	}
	taken := r.relist
	r.relist = false
	if taken || now.Sub(r.listed) < listAge || r.running == r.options.Parallel {
		return taken, 0
	}
	for _, a := range r.applications {
		if a.isDue(now) {
			return true, 0
		}
	}
	return false, 0
}

// list takes over the answer of ListApplications. New applications are examined at once.
func (r *Reporter) list(ctx context.Context) error {
	began := r.options.Clock.Now()
	answer, err := r.options.ControlPlane.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listed = r.options.Clock.Now()
	r.listAgain = r.listed.Add(min(listRest*r.listed.Sub(began), longestListRest))
	listed := make(map[string]*application, len(answer.GetApplications()))
	for _, m := range answer.GetApplications() {
		if m.GetDisabled() || m.GetDeleted() {
			continue
		}
		a := r.applications[m.GetId()]
		if a == nil {
			a = &application{changed: true}
		} else if lastSuccess(a.model) != lastSuccess(m) {
			a.changed = true
		}
		a.model = m
		listed[m.GetId()] = a
	}
	r.applications = listed
	return nil
}

// lastSuccess is the id of the application's last successful deployment; empty before there is one.
func lastSuccess(m *model.Application) string {
	return m.GetMostRecentlySuccessfulDeployment().GetDeploymentId()
}

// spread moves a time by up to a tenth, so that the looks at many applications do not meet.
func spread(d time.Duration) time.Duration {
	return d - d/20 + rand.N(d/10+1)
}

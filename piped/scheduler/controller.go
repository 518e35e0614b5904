// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"cmp"
	"context"
	"log/slog"
	"runtime"
	"slices"
	"sync"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/supersede"
	"github.com/pipedeck/pipedeck/system/clock"
)

// keptFinished bounds the memory of ended deployments, which a late answer of the control plane may still
// list as running.
const keptFinished = 1024

// ControllerOptions are the parts that a Controller directs.
type ControllerOptions struct {
	Planner      Planner
	Scheduler    *Scheduler
	ControlPlane pipedservice.PipedServiceClient
	Deployments  Deployments
	// Scratches are for Rerun.
	Scratches Scratches
	Commands  Commands
	Logger    *slog.Logger
	// Planning bounds the deployments that are planned at the same time. Default: two for each CPU.
	Planning int
	// Ended is called with the id of an application after each deployment of it, once its sync state was reported. It
	// may be nil, and must return at once.
	Ended func(application string)
	// Clock is for the time between two questions for a turn in a chain. Default: the system's.
	Clock clock.Timer
}

// Controller starts the deployments of this piped: one at a time per application, started ones before
// pending ones, older before newer.
type Controller struct {
	options  ControllerOptions
	planning chan struct{}
	wake     chan struct{}
	idle     chan struct{}
	jobs     sync.WaitGroup

	mu       sync.Mutex
	begun    bool                // what other pipeds have left is known
	stopped  bool                // no new jobs
	waiting  []*model.Deployment // in the order in which they became known
	active   map[string]*job     // by application
	finished []string            // ids, oldest first
	commands map[string]bool     // ids of commands that are being dealt with
	listed   chan struct{}       // closed at the next Submit
	// held are applications of which a stage is re-run; each is closed at the end of that.
	held map[string]chan struct{}
}

// NewController creates a Controller; nothing starts before Run.
func NewController(options ControllerOptions) *Controller {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Planning <= 0 {
		options.Planning = 2 * runtime.NumCPU()
	}
	if options.Clock == nil {
		options.Clock = clock.System{}
	}
	if options.Ended == nil {
		options.Ended = func(string) {}
	}
	return &Controller{
		options:  options,
		planning: make(chan struct{}, options.Planning),
		wake:     make(chan struct{}, 1),
		idle:     make(chan struct{}, 1),
		active:   map[string]*job{},
		commands: map[string]bool{},
		listed:   make(chan struct{}),
		held:     map[string]chan struct{}{},
	}
}

// Begin makes all deployments known that have not ended, an answer of ListNotCompletedDeployments. None starts before
// the first call: an earlier piped may have left one that comes before those that this piped creates.
func (c *Controller) Begin(open ...*model.Deployment) {
	c.mu.Lock()
	c.begun = true
	c.mu.Unlock()
	c.Submit(open...)
}

// Submit makes deployments known: one that this piped has just created, or an answer of
// ListNotCompletedDeployments. Known and ended ones are skipped; those that wait for their turn in a
// chain ask for it. The deployments must not be changed afterwards.
func (c *Controller) Submit(deployments ...*model.Deployment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range deployments {
		if c.knows(d.GetId()) || completed(d.GetStatus()) {
			continue
		}
		c.waiting = append(c.waiting, d)
	}
	close(c.listed)
	c.listed = make(chan struct{})
	c.nudge()
}

// Idle receives when the last deployment under way has ended. One receiver may use it; ends that it does not wait for
// become one.
func (c *Controller) Idle() <-chan struct{} { return c.idle }

// nextList is closed at the next Submit.
func (c *Controller) nextList() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listed
}

// Run starts deployments until ctx ends, then waits until all of them have stopped; they stay as reported
// last, for the next piped.
func (c *Controller) Run(ctx context.Context) error {
	defer c.stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.wake:
			c.startDue(ctx)
		}
	}
}

func (c *Controller) stop() {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.jobs.Wait()
}

// start runs work that stop waits for. It is called with the lock held.
func (c *Controller) start(work func()) {
	if !c.stopped {
		c.jobs.Go(work)
	}
}

func (c *Controller) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// startDue ends the deployments that newer ones supersede, and starts the next one of every application that has none
// under way.
func (c *Controller) startDue(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.begun || ctx.Err() != nil {
		return
	}
	slices.SortStableFunc(c.waiting, func(a, b *model.Deployment) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), supersede.Compare(a, b))
	})
	c.supersede()
	c.waiting = slices.DeleteFunc(c.waiting, func(d *model.Deployment) bool {
		if c.active[d.GetApplicationId()] != nil || c.held[d.GetApplicationId()] != nil {
			return false
		}
		j := newJob(c, d)
		c.active[d.GetApplicationId()] = j
		c.start(func() {
			ended := j.run(ctx)
			c.over(j, ended)
		})
		return true
	})
	c.supersede() // those that were started just now
}

// rank puts deployments that have been started before pending ones.
func rank(d *model.Deployment) int {
	if d.GetStatus() == model.DeploymentStatus_DEPLOYMENT_PENDING {
		return 1
	}
	return 0
}

func (c *Controller) over(j *job, ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.active, j.deployment.GetApplicationId())
	close(j.over)
	if ended {
		c.finish(j.deployment.GetId())
	}
	c.nudge()
	if len(c.active) == 0 && len(c.waiting) == 0 {
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
}

// finish remembers an ended deployment. It is called with the lock held.
func (c *Controller) finish(id string) {
	if slices.Contains(c.finished, id) {
		return
	}
	c.finished = append(c.finished, id)
	if len(c.finished) > keptFinished {
		c.finished = slices.Delete(c.finished, 0, len(c.finished)-keptFinished)
	}
}

func (c *Controller) knows(id string) bool {
	return c.activeJob(id) != nil || slices.Contains(c.finished, id) ||
		slices.ContainsFunc(c.waiting, func(d *model.Deployment) bool { return d.GetId() == id })
}

func (c *Controller) activeJob(id string) *job {
	for _, j := range c.active {
		if j.deployment.GetId() == id {
			return j
		}
	}
	return nil
}

func completed(status model.DeploymentStatus) bool {
	switch status {
	case model.DeploymentStatus_DEPLOYMENT_SUCCESS,
		model.DeploymentStatus_DEPLOYMENT_FAILURE,
		model.DeploymentStatus_DEPLOYMENT_CANCELLED:
		return true
	default:
		return false
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	imagev1 "github.com/pipedeck/pipedeck/api/image/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/devenv/live"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/exhaustion"
)

// deleteDeadline bounds the removal of all clusters: a container engine may never be done with one.
const deleteDeadline = 2 * time.Minute

var (
	// errShutdown ends an environment that a user asked to end.
	errShutdown = errors.New("a user asked for its end")
	// errNotServed ends an environment whose control plane has ended.
	errNotServed = errors.New("its control plane has ended")
)

// Environment is one running environment.
type Environment struct {
	Options
	server     *controlplane.Server
	components *components
	clusters   runningClusters
	repository atomic.Pointer[workspace.Repository]
	// tree is nil unless the environment is live or watches a detached HEAD.
	tree *live.Tree
	// commits is nil unless Commits are deployed.
	commits    *commitBranch
	treeReport *treeReport
	address    string
	addresses  *addresses
	// connected gets piped's version when it has introduced itself to the control plane.
	connected chan string
	// development has what piped runs.
	development *development

	mu      sync.Mutex
	running workspace.Running
	remove  bool
}

// Run brings the environment up and keeps it up until ctx ends or a user shuts it down. It
// returns workspace.ErrLocked when it runs already, a *StartError when it could not start, and
// nil otherwise.
func Run(ctx context.Context, options Options) error {
	if err := options.Workspace.Create(); err != nil {
		return &StartError{"workspace", err, "free some space or choose another directory with --state-dir"}
	}
	lock, err := options.Workspace.Acquire()
	if err != nil {
		return err
	}
	defer lock.Release()
	e := &Environment{
		Options: options, remove: options.Remove, connected: make(chan string, 1),
	}
	e.addresses = &addresses{env: e}
	e.development = newDevelopment(e)
	runErr := e.run(ctx)
	err = errors.Join(runErr, e.cleanUp(lock))
	logEnd(options.Logger, err)
	return err
}

// logEnd writes the last line of the log of an environment. An orderly end has no error to show.
func logEnd(logger *slog.Logger, err error) {
	if err != nil {
		logger.Error("the environment has ended", "error", err)
		return
	}
	logger.Info("the environment has ended")
}

// run is the life of an environment, from top to bottom.
func (e *Environment) run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	takeover := e.takeOver(ctx)
	secrets, err := e.Workspace.Keys().EnsureSecrets()
	if err != nil {
		return &StartError{componentControlPlane, err, "remove the environment with: pipedeck down" + e.Flags}
	}
	listener, metrics, err := e.listen()
	if err != nil {
		return &StartError{componentControlPlane, err, "free a port on 127.0.0.1"}
	}
	defer metrics.Close() // which serveMetrics has closed unless it was never called
	if err := e.newClusters(); err != nil {
		return errors.Join(err, listener.Close())
	}
	e.server, err = controlplane.New(e.controlPlane(stop, secrets))
	if err != nil {
		return errors.Join(&StartError{componentControlPlane, err, "this is a bug; please report it"}, listener.Close())
	}
	e.server.SetDevelop(e.development.run)
	if err := e.server.SetBreakpoints(e.Breakpoints); err != nil {
		return errors.Join(&StartError{componentControlPlane, err, "give fewer --break"}, listener.Close())
	}
	if e.OtherClusters != nil && e.server.History().Deployments > 0 {
		return errors.Join(e.OtherClusters, listener.Close())
	}
	if err := e.addresses.begin(); err != nil {
		return errors.Join(&StartError{"workspace", err, "remove the environment with: pipedeck down" + e.Flags},
			listener.Close())
	}
	e.components = newComponents(componentNames(&e.Options, e.clusters), e.server.SetComponent, time.Now)

	// The control plane outlives the others, so that their last reports and the users watching
	// them still find it.
	var answering sync.WaitGroup
	defer answering.Wait()
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	served := make(chan error, 1)
	go func() {
		served <- e.server.Run(serving, listener)
		stop(errNotServed) // without it nothing else is of use
	}()
	answering.Go(func() { e.serveMetrics(serving, metrics) })
	if err := e.publish(); err != nil {
		stopServing()
		return errors.Join(&StartError{componentControlPlane, err, "choose another place with --state-dir"}, <-served)
	}
	e.components.ready(componentControlPlane, e.address+takeover)
	if e.Listening != nil {
		e.Listening(e.address)
	}
	err = e.runChildren(ctx, secrets.APIKey)
	e.Logger.Info("the environment ends", "reason", cmp.Or(err, context.Cause(ctx)))
	ending{e}.sayEnds()
	stopServing()
	if serveErr := <-served; serveErr != nil && err == nil {
		err = &StartError{componentControlPlane, serveErr, "start again with: pipedeck up"}
	}
	return err
}

// controlPlane configures the control plane of the environment; stop ends the environment.
func (e *Environment) controlPlane(stop context.CancelCauseFunc, secrets *workspace.Secrets) controlplane.Config {
	return controlplane.Config{
		ProjectID: workspace.ProjectID, PipedID: e.Workspace.PipedID(), PipedName: e.Workspace.Name,
		PipedKey: secrets.PipedKey, APIKey: secrets.APIKey,
		Environment: e.describe(),
		Shutdown:    func(r *deckv1.ShutdownRequest) { ending{e}.shutdown(stop, r) },
		PipedConnected: func(version string) {
			select {
			case e.connected <- version:
			default: // one is waiting already
			}
		},
		EventHandled: e.eventHandled,
		Images:       e.imageService(),
		Open:         e.open,
		Selects:      e.Selects,
		PodLog:       e.clusters.podLog,
		KeepFile:     e.keepFile(),
		Flags:        e.Flags,
		Logger:       e.Logger,
	}
}

// liveRoot returns the root of a working tree that is deployed as it is on disk; empty for others.
func (e *Environment) liveRoot() string {
	if repository := e.repository.Load(); e.Live && repository != nil {
		return repository.Root
	}
	return ""
}

// keepFile is where the history of an environment lies that outlasts its run; empty for others.
func (e *Environment) keepFile() string {
	if e.Remove {
		return ""
	}
	return e.Workspace.History()
}

// imageService is what plugins get images from; nil when the environment builds none.
func (e *Environment) imageService() imagev1.ImageServiceServer {
	if e.Images == nil {
		return nil
	}
	return e.Images(e.loadImage, e.clusters.hasImage)
}

// runChildren opens the repository, then runs the clusters and piped side by side: none waits for
// another, stages that need a cluster do.
func (e *Environment) runChildren(ctx context.Context, apiKey string) error {
	children, ctx := errgroup.WithContext(ctx)
	children.Go(func() error { return e.compilePrograms(ctx) })
	built := e.buildPlugins(ctx, children)
	debuggers{e}.run(ctx, children)
	keys := make(chan error, 1) // next to the rest, because it takes a moment
	children.Go(func() error {
		keys <- e.Workspace.Keys().EnsureKeyPair()
		return nil
	})
	for _, c := range e.clusters {
		children.Go(func() error { return e.runCluster(ctx, c) })
	}
	children.Go(func() error {
		next := e.seeLogs() + "; wait when it takes its time, or run: " + e.startAgain()
		starts{e.components, e.server, next}.watch(ctx, cmp.Or(e.patience, startPatience))
		return nil
	})
	children.Go(func() error {
		directories{e.Workspace.Dir, e.liveRoot, e.server, e.startAgain()}.watch(ctx)
		return nil
	})
	children.Go(func() error {
		if err := e.openRepository(ctx); err != nil {
			return err
		}
		if e.tree != nil {
			children.Go(func() error { return e.tree.Run(ctx, e.treeReport.show) })
		}
		if e.commits != nil {
			children.Go(func() error { return e.commits.follow(ctx) })
		}
		if e.Images != nil {
			children.Go(func() error {
				e.provideHead(ctx, apiKey)
				return nil
			})
		}
		if errors.Join(e.Programs.Wait(ctx), built.wait(ctx)) != nil {
			return nil // the environment ends
		}
		if err := <-keys; err != nil {
			return &StartError{componentPiped, err, "choose another place with --state-dir"}
		}
		return e.runPiped(ctx)
	})
	err := children.Wait()
	var failure *StartError
	if errors.As(err, &failure) {
		e.components.failed(failure.Component, failure.Err, cmp.Or(exhaustion.Advice(failure.Err), failure.Hint))
	}
	return err
}

func (e *Environment) openRepository(ctx context.Context) error {
	e.components.starting(componentRepository, "opening")
	repository, err := e.Repository()
	if err != nil {
		hint := ""
		var problem *workspace.RepositoryError
		if errors.As(err, &problem) {
			hint = problem.Hint
		}
		return &StartError{componentRepository, err, hint}
	}
	e.repository.Store(repository)
	if err := continueHistory(&e.Options, e.server, repository); err != nil {
		return err
	}
	e.server.SetEnvironment(e.describe())
	if e.Commits != nil {
		e.commits, err = openCommits(ctx, e)
		return err
	}
	if e.Live || repository.Detached {
		return e.openTree(ctx)
	}
	detail := fmt.Sprintf("%s, branch %s", repository.Root, repository.Branch)
	if len(repository.Applications) == 0 {
		detail += " (no application yet: write one with pipedeck init, and commit it)"
	}
	if skipped := repository.SkippedText(); skipped != "" {
		detail += " (" + skipped + ")"
	}
	e.components.ready(componentRepository, detail)
	return nil
}

// describe is what users see of the environment; it grows as parts become known.
func (e *Environment) describe() *deckv1.Environment {
	described := &deckv1.Environment{
		Name: e.Workspace.Name, Version: e.Version,
		Address: e.address, MetricsAddress: e.running.Metrics, StateDir: e.Workspace.Dir,
		StartedAt: timestamppb.New(e.running.StartedAt),
		Clusters:  e.clusters.describe(), Restarting: ending{e}.replaced(),
	}
	if len(described.Clusters) > 0 {
		first := described.Clusters[0]
		described.ClusterKind, described.Simulated, described.Kubeconfig = first.Kind, first.Simulated, first.Kubeconfig
		described.LocalPods = first.LocalPods
	}
	if r := e.repository.Load(); r != nil {
		described.Repository, described.Branch, described.EditHint = r.Root, r.Branch, r.EditHint
		described.Live = e.Live
	}
	return described
}

// listen returns the listeners of the control plane and of the metrics.
func (e *Environment) listen() (plane, metrics net.Listener, err error) {
	if plane, err = listenAgain(e.Workspace.LastAddress()); err != nil {
		return nil, nil, err
	}
	if metrics, err = listenAgain(e.Workspace.LastMetricsAddress()); err != nil {
		return nil, nil, errors.Join(err, plane.Close())
	}
	e.address = plane.Addr().String()
	e.running = workspace.Running{
		PID: os.Getpid(), Address: e.address, Metrics: metrics.Addr().String(), StartedAt: time.Now(), Live: e.Live,
		Removes: e.Remove, Restart: e.Restart,
		Processes: map[string]workspace.Child{},
	}
	return plane, metrics, nil
}

func (e *Environment) publish() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running.Clusters = map[string]string{}
	for _, c := range e.clusters {
		e.running.Clusters[c.name] = string(c.provider.Describe().Kind)
	}
	return e.Workspace.Publish(e.running)
}

// seeLogs is the next step when the error itself does not say one.
func (e *Environment) seeLogs() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.remove {
		return "run it again with --keep and see the logs in " + e.Workspace.LogsDir()
	}
	return "see the logs in " + e.Workspace.LogsDir()
}

// cleanUp runs when every child has ended.
func (e *Environment) cleanUp(lock *workspace.Lock) error {
	err := ending{e}.withdraw()
	e.mu.Lock()
	remove := e.remove
	e.mu.Unlock()
	if !remove {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), deleteDeadline)
	defer cancel()
	if clusterErr := e.deleteClusters(ctx); clusterErr != nil {
		// What is stored shows the next attempt what is left to remove.
		return errors.Join(err, clusterErr)
	}
	return errors.Join(err, e.Workspace.Remove(lock))
}

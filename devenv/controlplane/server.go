// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	imagev1 "github.com/pipedeck/pipedeck/api/image/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/auth"
	"github.com/pipedeck/pipedeck/devenv/controlplane/deckapi"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
	"github.com/pipedeck/pipedeck/devenv/controlplane/pipedapi"
	"github.com/pipedeck/pipedeck/devenv/controlplane/publicapi"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/system/connlimit"
)

// historyComponent is the component that problems of the history degrade.
const historyComponent = "control plane"

const (
	// A stage log since its last checkpoint can be far larger than gRPC's default of 4 MiB.
	maxReceiveBytes = 16 << 20
	// Callers with a valid key keep their connections: a new one closes the oldest connection without a key.
	maxConnections = 256
	// keyTimeout is how long a connection may stay open without a call that carries a valid key.
	keyTimeout = 10 * time.Second
	// keylessBytes bounds all that is read from a connection before such a call: several hundred calls of a piped with
	// a wrong key, and little memory for maxConnections of them.
	keylessBytes = 64 << 10
	maxStreams   = 1024
	// How long calls that are under way may take to end when the server stops.
	stopTimeout = 3 * time.Second
)

// Server is the control plane. Use New, then Run once.
type Server struct {
	log   *slog.Logger
	store *store.Store
	grpc  *grpc.Server
	deck  *deckapi.Server
	// development is for authors of plugins.
	development *deckapi.Development
	// Ends every stream.
	stopping context.Context
	stop     context.CancelFunc
	// Holds a token when the answer to a Shutdown call has been sent.
	shutdown   chan struct{}
	callback   func(*deckv1.ShutdownRequest)
	refusals   *refusals
	keyTimeout time.Duration
	// kept is nil when nothing outlasts this process.
	kept *journal.Journal
	// breakpoints are those that outlast this process.
	breakpoints *breakpointFile
}

// New returns a server that knows the piped of the configuration and nothing else.
func New(cfg Config) (*Server, error) {
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("make the control plane: %w", err)
	}
	log := cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	state := store.New(store.Options{
		ProjectID: cfg.ProjectID, OwnPiped: cfg.PipedID, Flags: cfg.Flags, Now: cfg.Now, Limits: cfg.Limits,
	})
	kept := restore(cfg.KeepFile, log, state)
	keeper := &keeper{journal: kept}
	state.Pipeds.Add(cfg.PipedID, cfg.PipedName, "", auth.Hash(cfg.PipedKey))
	if cfg.Environment != nil {
		state.Environment.Describe(cfg.Environment)
	}
	refused := &refusals{log: log, interval: refusalInterval}
	authenticator, err := auth.New(cfg.ProjectID, state.Pipeds, cfg.APIKey, refused.refused)
	if err != nil {
		return nil, fmt.Errorf("make the control plane: %w", err)
	}
	s := &Server{
		log: log, store: state, deck: deckapi.New(state, cfg.Open, cfg.PodLog), shutdown: make(chan struct{}, 1),
		callback: cfg.Shutdown, kept: kept,
		refusals: refused, keyTimeout: keyTimeout, breakpoints: newBreakpointFile(cfg.KeepFile, state, log),
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	guard := &guard{stopping: s.stopping, log: log}
	door := &door{auth: authenticator, refusals: refused}
	s.grpc = grpc.NewServer(
		grpc.ChainUnaryInterceptor(guard.unary, keeper.unary, validateUnary,
			introduction(cfg.PipedID, cfg.PipedConnected),
			eventResults(state, cfg.EventHandled)),
		grpc.ChainStreamInterceptor(guard.stream, validateStream),
		grpc.StatsHandler(&answered{method: deckv1.DeckService_Shutdown_FullMethodName, sent: s.shutdown}),
		grpc.Creds(door),
		grpc.InTapHandle(door.call),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.MaxRecvMsgSize(maxReceiveBytes),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.ConnectionTimeout(keyTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second,
			PermitWithoutStream: true}),
	)
	piped, agent := pipedapi.New(state, cfg.Selects, log)
	pipedservice.RegisterPipedServiceServer(s.grpc, piped)
	agentv1.RegisterAgentServiceServer(s.grpc, agent)
	agentv1.RegisterPluginCallServiceServer(s.grpc, pipedapi.NewPluginCalls(state.PluginCalls))
	agentv1.RegisterFaultServiceServer(s.grpc, pipedapi.NewFaults(state.Faults))
	apiservice.RegisterAPIServiceServer(s.grpc, publicapi.New(state))
	deckv1.RegisterDeckServiceServer(s.grpc, s.deck)
	deckv1.RegisterPlanPreviewServiceServer(s.grpc, deckapi.NewPlanPreviews(state))
	deckv1.RegisterEventServiceServer(s.grpc, deckapi.NewEvents(state))
	deckv1.RegisterPluginCallServiceServer(s.grpc, deckapi.NewPluginCalls(state.PluginCalls))
	s.registerDevelopment()
	deckv1.RegisterFaultServiceServer(s.grpc, deckapi.NewFaults(state))
	deckv1.RegisterSharingServiceServer(s.grpc, deckapi.NewShares())
	if cfg.Images != nil {
		imagev1.RegisterImageServiceServer(s.grpc, cfg.Images)
	}
	healthpb.RegisterHealthServer(s.grpc, health.NewServer())
	return s, nil
}

// registerDevelopment adds what authors of plugins use.
func (s *Server) registerDevelopment() {
	s.development = deckapi.NewDevelopment(s.store)
	deckv1.RegisterPluginDevelopmentServiceServer(s.grpc, s.development)
	agentv1.RegisterStageRerunServiceServer(s.grpc, pipedapi.NewReruns(s.store.Reruns))
}

// SetDevelop says how plugins are developed, before Run.
func (s *Server) SetDevelop(develop deckapi.Develop) { s.development.SetDevelop(develop) }

// Run serves on the listener, which it closes, until ctx ends. Then it ends all streams, waits a
// short while for calls that are under way and returns nil.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	keeping, stopKeeping := context.WithCancel(context.WithoutCancel(ctx))
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		s.keep(keeping)
	}()
	defer func() { // after the last call
		stopKeeping()
		<-kept
	}()
	defer s.refusals.flush()
	defer s.stop()
	served := make(chan error, 1)
	bounded := connlimit.New(listener, connlimit.Bounds{
		Connections: maxConnections, Time: s.keyTimeout, Bytes: keylessBytes,
	})
	go func() { served <- s.grpc.Serve(bounded) }()
	called := make(chan struct{})
	go func() {
		defer close(called)
		s.awaitShutdown(ctx)
	}()

	checked := make(chan struct{})
	go func() {
		defer close(checked)
		s.checkPipeds()
	}()
	defer func() { <-checked }()

	select {
	case err := <-served:
		s.stop()
		s.grpc.Stop()
		<-called
		return fmt.Errorf("serve the control plane on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	s.stop()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.grpc.GracefulStop()
	}()
	timeout := time.NewTimer(stopTimeout)
	defer timeout.Stop()
	select {
	case <-stopped:
	case <-timeout.C:
		s.grpc.Stop()
		<-stopped
	}
	<-called
	if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve the control plane on %s: %w", listener.Addr(), err)
	}
	return nil
}

// checkPipeds looks for pipeds and stages that are silent until the server stops.
func (s *Server) checkPipeds() {
	due := time.NewTimer(store.HeartbeatCheck)
	defer due.Stop()
	for {
		select {
		case <-due.C:
			due.Reset(min(s.store.Pipeds.Check(), s.store.Deployments.CheckStages()))
		case <-s.stopping.Done():
			return
		}
	}
}

// restore takes back what an earlier control plane has kept, and keeps what follows once Run is called.
func restore(file string, log *slog.Logger, state *store.Store) *journal.Journal {
	if file == "" {
		return nil
	}
	kept := journal.Open(journal.Options{Path: file, State: state, Logger: log,
		Problem: func(about journal.Subject, p *journal.Problem) {
			part := "history"
			if about == journal.Damage {
				part = "history damage"
			}
			if p == nil {
				state.Environment.ClearProblem(part)
				return
			}
			problem := store.Problem{Part: part, Reason: p.Reason, NextStep: p.NextStep, Component: historyComponent}
			if p.Full {
				problem.Cause = store.PartDisk
			}
			state.Environment.SetProblem(problem)
		}})
	state.KeepIn(kept)
	return kept
}

// Watching says which repository the applications come from. What was kept of those of another one is
// forgotten. It is called before a piped is there.
func (s *Server) Watching(repository string) { s.store.Watching(repository) }

// History says what Watching would forget for another repository.
func (s *Server) History() store.History { return s.store.History() }

// Moved says that the repository of the history lies at another root now; Watching forgets nothing then.
func (s *Server) Moved(repository string) { s.store.Moved(repository) }

// keep keeps the state until ctx ends. What is reported until then is kept before keep returns.
func (s *Server) keep(ctx context.Context) {
	if s.kept == nil {
		return
	}
	if err := s.kept.Run(ctx); err != nil {
		s.log.Error("the end of the history may be missing after a restart", "error", err)
	}
	s.store.KeepIn(nil)
}

// Recognise says which cluster the deploy targets of a name lead to, by the cluster's own identity. When that
// is another one than an earlier control plane has kept, its applications are deployed again; it returns
// their number.
func (s *Server) Recognise(cluster, identity string) (again int) {
	return s.store.Recognise(cluster, identity)
}

// awaitShutdown calls back for the first Shutdown call that was answered.
func (s *Server) awaitShutdown(ctx context.Context) {
	select {
	case <-s.shutdown:
		if s.callback != nil {
			s.callback(s.deck.ShutdownRequested())
		}
	case <-s.stopping.Done():
	case <-ctx.Done():
	}
}

// SetComponent shows a part of the environment to user interfaces, in place of the one that had
// its name.
func (s *Server) SetComponent(c *deckv1.Component) { s.store.Environment.SetComponent(c) }

// SetProblem marks the environment as degraded, until ClearProblem.
func (s *Server) SetProblem(p store.Problem) { s.store.Environment.SetProblem(p) }

// ClearProblem removes the problem of a part, if there is one.
func (s *Server) ClearProblem(part string) { s.store.Environment.ClearProblem(part) }

// PipedProblem returns what keeps the calls of the environment's own piped away: it is refused, or silent. Nil for
// nothing.
func (s *Server) PipedProblem() *deckv1.Problem { return s.store.Pipeds.OwnProblem() }

// AwaitApplication returns when a piped has registered an application, or with the error of ctx.
func (s *Server) AwaitApplication(ctx context.Context) error {
	sub, changes := s.store.Subscribe(false)
	defer sub.Close()
	for {
		for _, c := range changes {
			if c.Application != nil {
				return nil
			}
		}
		next, err := sub.Next(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			next = sub.Resync() // it was too slow
		}
		changes = next
	}
}

// SetHeldPlace says where a debugger holds a process of a plugin: nowhere while that runs, or there is no process.
func (s *Server) SetHeldPlace(plugin string, process bool, place string) {
	store.SetHeldPlace(s.store.Pipeds, plugin, process, place)
}

// AwaitPluginProcess returns a process of a plugin that piped has started, runs and is not pid, or the error of ctx.
func (s *Server) AwaitPluginProcess(ctx context.Context, name string, pid int) (int, error) {
	sub, changes := s.store.Subscribe(false)
	defer sub.Close()
	for {
		for _, c := range changes {
			p := c.Plugin
			if p.GetName() == name && p.GetPid() != 0 && int(p.GetPid()) != pid &&
				p.GetState() == agentv1.Plugin_STATE_RUNNING && p.GetAttached() == "" {
				return int(p.GetPid()), nil
			}
		}
		next, err := sub.Next(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			next = sub.Resync() // it was too slow
		}
		changes = next
	}
}

// OwnPipedStarted says which process the environment's own piped is now.
func (s *Server) OwnPipedStarted(pid int) { s.store.Pipeds.OwnStarted(pid) }

// SetEnvironment replaces what user interfaces see of the environment.
func (s *Server) SetEnvironment(e *deckv1.Environment) { s.store.Environment.Describe(e) }

// ImportApplication registers an application as it is, with the id that it has elsewhere.
func (s *Server) ImportApplication(a *model.Application) { s.store.Applications.Import(a) }

// SetBreakpoints sets breakpoints on stages, and with Config.KeepFile those that users had set before the last end. It
// is called before a piped is there.
func (s *Server) SetBreakpoints(set []*deckv1.Breakpoint) error { return s.breakpoints.begin(set) }

// SetURLs replaces where applications answer on this machine, by their ids. The map belongs to the server.
func (s *Server) SetURLs(urls map[string]string) { s.store.Applications.SetURLs(urls) }

// ApplicationName is the name of an application; empty for one that is not known.
func (s *Server) ApplicationName(id string) string {
	application, _ := s.store.Applications.Get(id) // nil has no name
	return application.GetName()
}

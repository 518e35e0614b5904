// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/piped/fault"
	"github.com/pipedeck/pipedeck/piped/plugincalls"
	"github.com/pipedeck/pipedeck/system/clock"
)

// DefaultPort is PipeCD v1's.
const DefaultPort = 9087

// maxRequest bounds a request of a plugin in bytes. PipeCD v1 allows 4 MiB and then loses the whole log
// of a stage that wrote more between two checkpoints.
const maxRequest = 64 << 20

// firstCall is how long a link may stay silent at its beginning: it is there from the start of a plugin, which may
// make its first call much later. For loopback see firstWord.
const firstCall = 365 * 24 * time.Hour

// Options of a Server.
type Options struct {
	// Port to listen on; 0 chooses a free one.
	Port int
	// ControlPlane receives what plugins report, with the credentials of piped.
	ControlPlane pipedservice.PipedServiceClient
	Registry     *Registry
	// Guarded lets plugins only touch what a plugin host has put into their hands (Hand), and callers over
	// loopback only what a plugin without a link holds. Without it every program on this machine may call, as
	// in PipeCD v1.
	Guarded  bool
	Commands *Commands
	// Calls remembers the calls; nil for nothing.
	Calls *plugincalls.Log
	// Faults are those that a user wants; nil for none.
	Faults *fault.Set
	// Answers are the answers to questions for shared metadata that is not kept, by key; may be nil.
	Answers map[string]Answer
	// ToolsDir keeps installed tools as <name>-<version>. A file that is there counts as installed.
	ToolsDir string
	// SavePause is the pause after metadata could not be saved. Default 1 s.
	SavePause time.Duration
	// Clock is for the pauses between tries. Default: the system's.
	Clock  clock.Timer
	Logger *slog.Logger
}

// Server is the plugin service of one piped.
type Server struct {
	pluginservice.UnimplementedPluginServiceServer
	agentv1.UnimplementedStageCommandServiceServer

	options  Options
	listener *loopback
	links    *links
	guests   guests
	tools    singleflight.Group
	stopping chan struct{}
	// leaving ends when no call may wait for the control plane any more.
	leaving context.Context
	leave   context.CancelFunc
}

// Listen takes the port, so that the address is known and a port in use is reported before anything starts.
func Listen(options Options) (*Server, error) {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.SavePause <= 0 {
		options.SavePause = time.Second
	}
	if options.Clock == nil {
		options.Clock = clock.System{}
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(options.Port))
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf(
			"port %d for plugins is in use: is another piped running? End it, or choose another port with "+
				"--plugin-service-port (0 takes a free one): %w",
			options.Port, err,
		)
	case err != nil:
		return nil, fmt.Errorf("listen for plugins on %s: %w", address, err)
	}
	s := &Server{
		options: options, listener: newLoopback(listener, firstWord), links: newLinks(),
		guests: guests{count: map[string]int{}}, stopping: make(chan struct{}),
	}
	s.leaving, s.leave = context.WithCancel(context.Background())
	return s, nil
}

// Address is what plugins get as --piped-plugin-service.
func (s *Server) Address() string {
	return net.JoinHostPort("localhost", strconv.Itoa(s.listener.Addr().(*net.TCPAddr).Port))
}

// Leave has no call wait for the control plane from now on: piped stops, and what it does not take at once is lost.
// Plugins are still served, because they have last things to store.
func (s *Server) Leave() { s.leave() }

// Run serves until ctx ends. Calls under way are then cut off: the caller ends ctx when no stage runs any more.
func (s *Server) Run(ctx context.Context) error {
	unary := []grpc.UnaryServerInterceptor{validate, s.guard}
	if s.options.Faults != nil {
		unary = append(unary, s.options.Faults.Unary)
	}
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(maxRequest),
		grpc.Creds(identify{}),
		grpc.ConnectionTimeout(firstCall),
		grpc.WaitForHandlers(true),
	}
	if calls := s.options.Calls; calls != nil { // it sees what is refused, too
		unary = slices.Insert(unary, 0, calls.Unary(s.pluginOf))
		options = append(options, grpc.StreamInterceptor(calls.Stream(s.pluginOf)))
	}
	server := grpc.NewServer(append(options, grpc.ChainUnaryInterceptor(unary...))...)
	pluginservice.RegisterPluginServiceServer(server, s)
	agentv1.RegisterStageCommandServiceServer(server, s)
	stop := context.AfterFunc(ctx, func() {
		s.Leave()
		close(s.stopping)
		server.Stop()
	})
	defer stop()
	linked := make(chan struct{})
	go func() {
		defer close(linked)
		_ = server.Serve(s.links) // ends with the server
	}()
	err := server.Serve(s.listener)
	server.Stop()
	s.Close()
	<-linked
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve plugins: %w", err)
	}
	return nil
}

// Close gives the port back when Run was never called; after Run it does nothing.
func (s *Server) Close() {
	s.Leave()
	s.listener.Close()
	_ = s.links.Close()
}

// validate refuses requests that break the rules of their message, with PipeCD v1's code and words.
func validate(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if v, ok := request.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "invalid request: %v", err)
		}
	}
	return handle(ctx, request)
}

var (
	_ pluginservice.PluginServiceServer = (*Server)(nil)
	_ agentv1.StageCommandServiceServer = (*Server)(nil)
)

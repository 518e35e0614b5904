// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
	"github.com/pipedeck/pipedeck/api/plugin/schema"
)

// errParentGone is the cause of a stop when the agent's process has ended: no one takes logs any more.
var errParentGone = errors.New("the agent that started this plugin is gone")

// commandPoll is how often piped is asked for commands when it cannot push them (PipeCD v1: 5 seconds).
const commandPoll = 5 * time.Second

// orphanGracePeriod bounds how long a plugin without its agent may keep its port from the next one.
const orphanGracePeriod = 5 * time.Second

// cancelledPeriod is for requests that only end when they are cancelled, after the grace period.
const cancelledPeriod = 2 * time.Second

// ServeOptions is what Serve needs besides the plugin.
type ServeOptions struct {
	Settings Settings
	// PipedAddress is host:port of piped's plugin service. It need not answer yet.
	PipedAddress string
	// Piped is a connection to piped's plugin service to use in place of PipedAddress; Serve closes it.
	Piped net.Conn
	// Listener is where piped calls the plugin; Serve closes it.
	Listener net.Listener
	// TLS is nil for plain text, which is what piped speaks.
	TLS        *tls.Config
	Reflection bool
	// GracePeriod bounds how long stages may take to stop.
	GracePeriod time.Duration
	// CommandPoll is the pause between questions for commands; 0 is PipeCD v1's five seconds.
	CommandPoll time.Duration
	Logger      *slog.Logger

	journal *logJournal
}

// Serve answers piped until ctx ends; then it cancels the running stages with ErrShuttingDown, waits for
// them for at most the grace period, and returns nil; an error says that some go on nevertheless. Programs use Main;
// this is for tests.
func Serve(ctx context.Context, plugin Plugin, opts ServeOptions) (err error) {
	defer func() { _ = opts.Listener.Close() }()
	conn, err := dialPiped(opts)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if opts.CommandPoll == 0 {
		opts.CommandPoll = commandPoll
	}
	client := newClient(opts.Settings.Name, conn, opts.CommandPoll)
	client.journal = opts.journal

	h, err := plugin.bind(opts.Settings, client, opts.Logger, decoding{strict: plugin.strict})
	if err != nil {
		return err
	}
	if h.close != nil {
		defer func() { err = errors.Join(err, h.close()) }()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if h.start != nil {
		if err := h.start(ctx); err != nil {
			return fmt.Errorf("plugin %s: start: %w", opts.Settings.Name, err)
		}
	}
	h.schema, h.version = plugin.schema, plugin.known()
	return serve(ctx, newServer(ctx, h, client, opts), plugin.Version(), opts)
}

// serve runs the server until ctx ends and the requests have, or the grace period is over.
func serve(ctx context.Context, server *grpc.Server, version string, opts ServeOptions) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(opts.Listener) }()
	opts.Logger.Info("plugin is ready", "plugin", opts.Settings.Name, "version", version,
		"address", opts.Listener.Addr().String())
	select {
	case err := <-failed:
		return fmt.Errorf("plugin %s: serve on %s: %w", opts.Settings.Name, opts.Listener.Addr(), err)
	case <-ctx.Done():
	}
	opts.Logger.Info("plugin is stopping", "plugin", opts.Settings.Name, "cause", context.Cause(ctx))
	grace := opts.GracePeriod
	if errors.Is(context.Cause(ctx), errParentGone) {
		grace = min(grace, orphanGracePeriod)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		server.GracefulStop()
	}()
	if !within(grace, stopped) {
		server.Stop() // cancels the requests
		if !within(cancelledPeriod, stopped) {
			// Work that cannot be interrupted ends with the process, which must not outlive its agent for it.
			return fmt.Errorf("plugin %s: requests go on after they were cancelled; they end with the process",
				opts.Settings.Name)
		}
	}
	<-failed
	return nil
}

func within(limit time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

func newServer(ctx context.Context, h *handlers, client *pipedClient, opts ServeOptions) *grpc.Server {
	options := []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(recoverPanics(opts.Logger), validate),
		grpc.StreamInterceptor(endStreams(ctx)),
	}
	if opts.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(opts.TLS)))
	}
	server := grpc.NewServer(options...)
	deployment.RegisterDeploymentServiceServer(server, &deploymentService{
		handlers: h, client: client, logger: opts.Logger, stopping: ctx, now: time.Now, version: h.version,
	})
	deployment.RegisterSourceUseServiceServer(server, &sourceUseService{handlers: h})
	if len(h.schema) > 0 {
		schema.RegisterSchemaServiceServer(server, &schemaService{document: h.schema})
	}
	if h.livestate != nil {
		livestate.RegisterLivestateServiceServer(server,
			&livestateService{handlers: h, name: opts.Settings.Name, now: time.Now})
	}
	if h.changes != nil {
		livestate.RegisterLivestateChangeServiceServer(server,
			&livestateChangeService{changes: h.changes, stopping: ctx})
	}
	if h.drift != nil {
		livestate.RegisterLivestateDriftServiceServer(server, &driftService{handlers: h})
	}
	if h.planPreview != nil {
		planpreview.RegisterPlanPreviewServiceServer(server, &planPreviewService{handlers: h})
	}
	healthServer := health.NewServer()
	for name := range server.GetServiceInfo() {
		healthServer.SetServingStatus(name, grpc_health_v1.HealthCheckResponse_SERVING)
	}
	context.AfterFunc(ctx, healthServer.Shutdown)
	grpc_health_v1.RegisterHealthServer(server, counting{healthServer})
	if opts.Reflection {
		reflection.Register(server)
	}
	return server
}

// dialPiped does not wait for piped: it may still be busy starting other plugins.
func dialPiped(opts ServeOptions) (*grpc.ClientConn, error) {
	options := []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(plainErrors),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2,
				MaxDelay: time.Second},
			MinConnectTimeout: 5 * time.Second, // of a busy machine
		}),
	}
	address := opts.PipedAddress
	if opts.Piped != nil {
		address = "piped"
		options = append(options, overOnly(opts.Piped)...)
	}
	conn, err := grpc.NewClient("passthrough:///"+address, options...)
	if err != nil {
		return nil, fmt.Errorf("dial piped's plugin service at %s: %w", address, err)
	}
	conn.Connect()
	return conn, nil
}

// overOnly lets a client use one connection, and no other after it: it cannot be made again, so it is kept
// when idle, and its first answer is waited for as long as it takes.
func overOnly(conn net.Conn) []grpc.DialOption {
	given := make(chan net.Conn, 1)
	given <- conn
	return []grpc.DialOption{
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			select {
			case conn := <-given:
				return conn, nil
			default:
				return nil, errParentGone
			}
		}),
		grpc.WithIdleTimeout(0),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: time.Second, Multiplier: 1.6, MaxDelay: time.Minute},
			MinConnectTimeout: time.Hour,
		}),
	}
}

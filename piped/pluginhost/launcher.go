// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/schema"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/processtree"
)

// maxMessage bounds an answer of a plugin in bytes. PipeCD v1 allows 4 MiB, too little for the live
// state of a large application.
const maxMessage = 64 << 20

// launcher starts processes of a plugin and connects to them.
type launcher struct {
	config    config.Plugin
	options   *Options
	output    *output
	limits    limits
	groups    *cgroups // nil without limits, or without control groups
	remains   *remains
	suspicion *suspicion
	debugger  *debugger
	logger    *slog.Logger
}

// launch starts a process of a binary and connects to it, over a link when it can use one.
func (l *launcher) launch(b binary, port int, lifeline *os.File) (_ *process, err error) {
	var private *link
	if b.linked && l.options.Service != nil {
		private, err = newLink()
		port = 0
	} else {
		port, err = choosePort(l.config.Name, port)
	}
	if err != nil {
		return nil, err
	}
	tree := l.remains.newTree(l.groups == nil)
	proc, err := startProcess(start{
		binary: b.path, config: l.config, port: port, serviceAddress: l.options.ServiceAddress, lifeline: lifeline,
		link: private, tree: tree, room: l.confine(tree), clock: l.options.Clock,
		debugger: l.debugger,
		ended:    func(proc *process) { proc.ending.exit.blamed = l.suspicion.blame(proc) },
	}, l.output)
	if err != nil {
		if private != nil {
			private.close()
		}
		return nil, permanentError{err}
	}
	proc.watch.build.Store(b.build())
	proc.release = l.serve(proc)
	var calls grpc.UnaryClientInterceptor
	if l.options.Observer.Calls != nil {
		calls = l.options.Observer.Calls(l.config.Name, b.hash)
	}
	if proc.conn, err = dial(proc, calls); err != nil {
		proc.stop(0)
		proc.close()
		return nil, permanentError{fmt.Errorf("connect to plugin %q: %w", l.config.Name, err)}
	}
	proc.watchDebugger()
	l.logger.Debug("plugin process started", "pid", proc.pid(), "port", port, "link", private != nil)
	return proc, nil
}

// confine creates the room for a new process. Without a control group bound holds the limits.
func (l *launcher) confine(tree *processtree.Tree) confinement {
	room := confinement{limits: l.limits}
	if l.groups == nil {
		return room
	}
	group, err := l.groups.create(tree, l.limits)
	if err != nil {
		l.logger.Warn("cannot create a control group; piped holds the limits by measuring the process", "error", err)
		return room
	}
	room.group = group
	return room
}

// serve gives the service the plugin's connection, or reports that the plugin calls over loopback.
// Release is called when the process has ended.
func (l *launcher) serve(proc *process) (release func()) {
	service, name := l.options.Service, l.config.Name
	switch {
	case service == nil:
		return func() {}
	case proc.link != nil:
		finish := service.Attach(name, proc.link.called, proc.link.logs)
		proc.finishLogs.Store(&finish)
		return finish
	default:
		return service.Expect(name)
	}
}

// awaitReady asks a new process for its abilities. It fails as soon as the process ends, at the start
// deadline, and with the cause of ctx.
func (l *launcher) awaitReady(ctx context.Context, proc *process) (abilities, error) {
	ctx, cancel := clock.WithHeldTimeout(ctx, clock.System{}, l.options.StartTimeout, l.held, errStartTimeout)
	defer cancel()
	type answer struct {
		abilities
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		able, err := askAbilities(ctx, proc.conn)
		answered <- answer{able, err}
	}()
	select {
	case a := <-answered:
		switch {
		case a.err == nil:
			proc.watch.answered.Store(true)
			proc.watch.build.Store(named(proc.watch.build.Load(), a.version))
			if l.options.Observer.Described != nil {
				l.options.Observer.Described(l.config.Name, a.schema)
			}
			return a.abilities, nil
		case errors.Is(context.Cause(ctx), errStartTimeout):
			return abilities{}, l.startTimeoutError(proc)
		case ctx.Err() != nil:
			return abilities{}, context.Cause(ctx)
		}
		select {
		case <-proc.ending.exited: // and that is why it did not answer
			return abilities{}, proc.ending.exit
		case <-l.options.Clock.After(exitNotice):
			return abilities{}, fmt.Errorf("ask plugin %q for its stages: %w", l.config.Name, a.err)
		}
	case <-proc.ending.exited:
		cancel()
		<-answered
		return abilities{}, proc.ending.exit
	}
}

// held is how long debuggers have held the plugin so far.
func (l *launcher) held() time.Duration { return l.debugger.time() }

// askAbilities waits until the plugin answers.
func askAbilities(ctx context.Context, conn *grpc.ClientConn) (able abilities, err error) {
	var headers metadata.MD
	response, err := deployment.NewDeploymentServiceClient(conn).FetchDefinedStages(
		ctx, &deployment.FetchDefinedStagesRequest{}, grpc.WaitForReady(true), grpc.Header(&headers),
	)
	if status.Code(err) == codes.Unimplemented {
		err = nil // a plugin for live state alone
	}
	if err != nil {
		return able, err
	}
	able.stages, able.version = response.GetStages(), reportedVersion(headers)
	able.sources, err = deployment.NewSourceUseServiceClient(conn).GetSourceUse(ctx, &deployment.GetSourceUseRequest{})
	switch {
	case status.Code(err) == codes.Unimplemented: // PipeCD's plugins
		able.sources = nil
	case err != nil:
		return able, err
	}
	// Without a schema the options are not checked, and everything else works.
	described, _ := schema.NewSchemaServiceClient(conn).GetSchema(ctx, &schema.GetSchemaRequest{})
	able.schema = described.GetJsonSchema()
	return able, nil
}

var errStartTimeout = errors.New("start timeout")

func (l *launcher) startTimeoutError(proc *process) error {
	text := fmt.Sprintf(
		"plugin %q did not answer%s within %s of its start", l.config.Name, proc.place(), l.options.StartTimeout,
	)
	if last := proc.out.last(); len(last) > 0 {
		text += "; its last output: " + inError(last)
	}
	return permanentError{errors.New(text + "; see its output, or allow more time with --plugin-start-timeout")}
}

// dial makes the connection to a new process.
func dial(proc *process, calls grpc.UnaryClientInterceptor) (*grpc.ClientConn, error) {
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithStatsHandler(beginnings{}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
	}
	if calls != nil {
		options = append(options, grpc.WithUnaryInterceptor(calls))
	}
	var sole net.Conn
	switch {
	case proc.link != nil:
		sole = proc.link.serve
	case proc.attachment != nil:
		sole = proc.attachment.conn
	}
	if sole != nil {
		return grpc.NewClient(
			"passthrough:///"+fileName(proc.plugin), append(options, overLink(sole)...)...,
		)
	}
	// It tries often: a plugin listens a few hundredths of a second after its start.
	return grpc.NewClient("passthrough:///"+net.JoinHostPort("127.0.0.1", strconv.Itoa(proc.port)),
		append(options, grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 5 * time.Millisecond, Multiplier: 1.3, Jitter: 0.2, MaxDelay: 100 * time.Millisecond,
			},
			MinConnectTimeout: 5 * time.Second, // of a busy machine
		}))...)
}

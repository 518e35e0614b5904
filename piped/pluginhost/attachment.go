// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	reattachv1 "github.com/pipedeck/pipedeck/api/plugin/reattach"
	"github.com/pipedeck/pipedeck/piped/pluginhost/reattach"
	"github.com/pipedeck/pipedeck/system/peeruser"
)

const (
	// attachTimeout bounds each step until a process works for piped, but for the time that its start takes.
	attachTimeout = 10 * time.Second
	// silence is how long a process may take to answer before it counts as held.
	silence = time.Second
)

// attachment is the connection to a process that piped has not started. piped never signals such a process: it only
// closes the connection.
type attachment struct {
	target reattach.Target
	pid    int // 0 when it is not known
	conn   *seenConn
	// leave ends the attachment of a process of our SDK, which then ends its stages; it does nothing for others.
	leave func()
	// spent is set when piped has left the process for what that did: it is not used again.
	spent atomic.Bool
	// why is what the process has said of the end of its work; nil for nothing.
	why atomic.Pointer[string]
	// silent is set while the process does not answer.
	silent atomic.Bool
}

// seenConn is a connection whose end is seen.
type seenConn struct {
	net.Conn
	gone chan struct{}
	once sync.Once
}

func (c *seenConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.end()
	}
	return n, err
}

func (c *seenConn) Close() error {
	c.end()
	return c.Conn.Close()
}

func (c *seenConn) end() { c.once.Do(func() { close(c.gone) }) }

// errNoProcess is returned while no process waits at the address of a target.
var errNoProcess = errors.New("no process waits there")

// attach connects to the process of a target, and has it work for piped.
func (l *launcher) attach(ctx context.Context, target reattach.Target) (*process, abilities, error) {
	if target.Address == "" {
		announced, err := reattach.Announced(target.Plugin)
		if err != nil {
			return nil, abilities{}, err
		}
		if announced == nil {
			return nil, abilities{}, errNoProcess
		}
		target = *announced
	}
	a, err := l.open(ctx, target)
	if err != nil {
		return nil, abilities{}, err
	}
	proc, err := l.adopt(a)
	if err != nil {
		a.close()
		return nil, abilities{}, err
	}
	able, err := l.awaitReady(ctx, proc)
	if err != nil {
		proc.stop(0)
		proc.close()
		if why := a.why.Load(); why != nil {
			err = fmt.Errorf("the process %s: %s", a.name(), *why)
		}
		return nil, abilities{}, err
	}
	return proc, able, nil
}

// open connects to a process, and gives it what piped gives to those that it starts, if it asks for that.
func (l *launcher) open(ctx context.Context, target reattach.Target) (*attachment, error) {
	conn, err := dialOwn(ctx, target.Address)
	if err != nil {
		return nil, err
	}
	a := &attachment{target: target, pid: target.PID, conn: conn, leave: func() {}}
	client, err := grpc.NewClient("passthrough:///"+fileName(target.Plugin), append(
		overLink(conn), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())...)
	if err != nil {
		a.close()
		return nil, err
	}
	asking, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	// The system knows whose connection it is once that is accepted, and nothing is sent to a process of another user.
	_, err = grpc_health_v1.NewHealthClient(client).Check(asking, &grpc_health_v1.HealthCheckRequest{})
	if code := status.Code(err); code == codes.DeadlineExceeded || code == codes.Unavailable {
		client.Close()
		return nil, fmt.Errorf("the process at %s does not answer as a plugin does: %w", target.Address, err)
	}
	if err := peeruser.Check(conn.Conn); err != nil {
		client.Close()
		return nil, fmt.Errorf("the process at %s is not used: %w", target.Address, err)
	}
	answer, leave, err := l.introduce(ctx, client, a)
	switch {
	case status.Code(err) == codes.Unimplemented: // another language: its author has given it the same
		client.Close()
		if a.pid == 0 {
			_, port, _ := net.SplitHostPort(target.Address)
			number, _ := strconv.Atoi(port)
			a.pid = listenerPID(number)
		}
		a.conn, err = dialOwn(ctx, target.Address)
		return a, err
	case err != nil:
		client.Close()
		return nil, fmt.Errorf("the process at %s: %s", target.Address, status.Convert(err).Message())
	}
	a.leave = func() {
		leave()
		client.Close()
	}
	if a.pid = int(answer.GetPid()); reattach.CheckAddress(answer.GetAddress()) != nil {
		a.leave()
		return nil, fmt.Errorf("the process at %s serves at %q, which is not on this machine", target.Address,
			answer.GetAddress())
	}
	if a.conn, err = dialOwn(ctx, answer.GetAddress()); err != nil {
		a.leave()
		return nil, err
	}
	return a, nil
}

// introduce asks a process of our SDK to work for piped. The attachment lasts until leave is called.
func (l *launcher) introduce(ctx context.Context, client *grpc.ClientConn, a *attachment) (
	answer *reattachv1.AttachResponse, leave func(), err error,
) {
	configuration, err := configArgument(l.config, 0)
	if err != nil {
		return nil, nil, err
	}
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel) // until it has answered
	defer stop()
	timer := time.AfterFunc(attachTimeout, cancel)
	defer timer.Stop()
	stream, err := reattachv1.NewReattachServiceClient(client).Attach(lasting, &reattachv1.AttachRequest{
		Token: a.target.Token, Config: configuration, PipedPluginService: l.options.ServiceAddress,
	})
	if err == nil {
		answer, err = stream.Recv()
	}
	if err != nil {
		cancel()
		return nil, nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if _, err := stream.Recv(); err != nil && lasting.Err() == nil && !errors.Is(err, io.EOF) {
			why := status.Convert(err).Message()
			a.why.Store(&why)
		}
	}()
	return answer, func() { cancel(); <-ended }, nil
}

// dialOwn connects to an address on this machine.
func dialOwn(ctx context.Context, address string) (*seenConn, error) {
	conn, err := (&net.Dialer{Timeout: attachTimeout}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, errNoProcess
	}
	return &seenConn{Conn: conn, gone: make(chan struct{})}, nil
}

// adopt makes an attachment a process of the plugin.
func (l *launcher) adopt(a *attachment) (_ *process, err error) {
	p := &process{
		plugin: l.config.Name, clock: l.options.Clock, started: l.options.Clock.Now(), debugger: l.debugger,
		attachment: a,
	}
	p.watch.suspect, p.watch.began = make(chan struct{}, 1), make(chan struct{}, 1)
	p.watch.called = make(chan struct{}, 1)
	p.ending.exited = make(chan struct{})
	var calls grpc.UnaryClientInterceptor
	if l.options.Observer.Calls != nil {
		calls = l.options.Observer.Calls(l.config.Name, "attached")
	}
	if p.conn, err = dial(p, calls); err != nil {
		return nil, fmt.Errorf("connect to plugin %q: %w", l.config.Name, err)
	}
	p.release = l.serve(p)
	p.drained.Go(func() {
		<-a.conn.gone
		p.ending.gone.Store(true)
		p.ending.exit = p.detachedError()
		a.close()
		close(p.ending.exited)
	})
	p.watchDebugger()
	p.watchSilence()
	return p, nil
}

func (a *attachment) close() {
	a.leave()
	_ = a.conn.Close()
}

// depart ends the work of the process for piped, and leaves the process running. It returns when that has ended.
func (p *process) depart(grace time.Duration) {
	p.attachment.leave()
	select {
	case <-p.ending.exited:
	case <-p.clock.After(grace):
		_ = p.attachment.conn.Close()
	}
	<-p.ending.exited
}

// cut leaves a process at once, and for good.
func (p *process) cut() {
	p.attachment.spent.Store(true)
	_ = p.attachment.conn.Close()
}

// detachedError says how a process has come to work for piped no more.
func (p *process) detachedError() *ExitError {
	exit := &ExitError{
		Plugin: p.plugin, Uptime: time.Since(p.started), Requested: p.ending.stopping.Load(),
		Detached: p.attachment.name(), Abandoned: true,
	}
	if reason := p.ending.reason.Load(); reason != nil {
		exit.Requested, exit.Reason = false, *reason
	}
	return exit
}

// name names the process to users.
func (a *attachment) name() string {
	if a.pid == 0 {
		return "at " + a.target.Address
	}
	return fmt.Sprintf("%d at %s", a.pid, a.target.Address)
}

// watchSilence finds out whether the process answers, until it ends. Debuggers of other languages than Go stop a
// process without a trace in the system. Its author sees to it, so piped does not leave it for being silent.
func (p *process) watchSilence() {
	p.watch.running.Go(func() {
		for {
			answer := p.ask(silence, func() {})
			silent := answer == noAnswer
			if p.attachment.silent.Swap(silent) != silent {
				p.seek()
			}
			pause := traceRest
			if silent || len(p.inputs.running()) > 0 {
				pause = traceInterval
			}
			select {
			case <-p.ending.exited:
				return
			case <-p.watch.began:
			case <-p.watch.suspect:
			case <-time.After(pause):
			}
		}
	})
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// StartLimit bounds how long a program may take until it answers; StopLimit how long it may take to end.
const (
	StartLimit = 30 * time.Second
	StopLimit  = 20 * time.Second
)

// ErrKilled is a program that went on after SIGTERM until it was killed.
var ErrKilled = errors.New("the plugin went on after SIGTERM and was killed")

// Program is a running program of a plugin.
type Program struct {
	// Conn reaches the plugin.
	Conn *grpc.ClientConn
	// Stages are those that the plugin has reported.
	Stages []string
	// Exited is closed when the process has ended.
	Exited <-chan struct{}

	command *exec.Cmd
	said    *said // nil in this process
	end     func() error
	err     error // valid once Exited is closed
}

// StartProgram runs the program of a plugin, in whatever language it is written, as PipeCD's piped does: with the same
// command line, on a port of 127.0.0.1, which takes the place of that in settings. It returns when the plugin has
// reported its stages. It runs in dir, or in the directory of this process when dir is empty; a relative path is one of
// this process. What the program prints goes to output. Stop ends it.
func StartProgram(ctx context.Context, path, dir, pipedAddress string, settings sdk.Settings,
	output io.Writer) (*Program, error) {
	var err error
	if settings.Port, err = FreePort(ctx); err != nil {
		return nil, err
	}
	config, err := json.Marshal(settings)
	if err != nil {
		return nil, fmt.Errorf("encode the configuration of plugin %s: %w", settings.Name, err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("find the program %s: %w", path, err)
	}
	exited := make(chan struct{})
	p := &Program{Exited: exited, command: exec.Command(path, "start", "--piped-plugin-service", pipedAddress,
		"--config", string(config))}
	p.command.Dir = dir
	p.said = &said{to: output}
	p.command.Stdout, p.command.Stderr = p.said, p.said
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.command.WaitDelay = time.Second // a child may hold the output open
	p.end = sync.OnceValue(func() error { return p.terminate(StopLimit) })
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start the program %s: %w", path, err)
	}
	go func() {
		p.err = p.command.Wait()
		_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL) // what is left of the group, as piped does
		close(exited)
	}()
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(settings.Port))
	p.Conn, err = grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithConnectParams(grpc.ConnectParams{ // a program serves within milliseconds
			Backoff: backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.3, Jitter: 0.2,
				MaxDelay: 200 * time.Millisecond},
			MinConnectTimeout: 5 * time.Second, // of a busy machine
		}))
	if err == nil {
		err = p.awaitAnswer(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Pid is the number of the process, to measure it by.
func (p *Program) Pid() int { return p.command.Process.Pid }

// Stop ends the program by SIGTERM and waits for it. The error is that of the program, unless the signal ended it, or
// ErrKilled.
func (p *Program) Stop() error { return p.end() }

// Close is Stop and closes Conn.
func (p *Program) Close() error {
	err := p.Stop()
	if p.Conn != nil {
		err = errors.Join(err, p.Conn.Close())
	}
	return err
}

// Kill ends the program at once, as a crash would; a plugin in this process is stopped.
func (p *Program) Kill() {
	if p.command == nil {
		_ = p.end()
		return
	}
	_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL)
	<-p.Exited
	_ = p.end()
}

// awaitAnswer returns when the plugin has reported its stages.
func (p *Program) awaitAnswer(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, StartLimit,
		fmt.Errorf("the plugin did not report its stages (FetchDefinedStages) in %s", StartLimit))
	defer cancel()
	answered := make(chan error, 1)
	go func() {
		resp, err := deployment.NewDeploymentServiceClient(p.Conn).FetchDefinedStages(ctx,
			&deployment.FetchDefinedStagesRequest{}, grpc.WaitForReady(true))
		p.Stages = resp.GetStages()
		answered <- err
	}()
	select {
	case err := <-answered:
		switch {
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("the plugin does not report its stages: %w", err)
		}
		return nil
	case <-p.Exited:
		cancel()
		<-answered
		return fmt.Errorf("the plugin ended before it answered: %s", endOf(p.err))
	}
}

// End says how the program has ended, with the first lines of its panic or its last line. It is for after Exited.
func (p *Program) End() string {
	end := endOf(p.err)
	if p.said != nil {
		if last := p.said.lastWords(); last != "" {
			end += "\n" + last
		}
	}
	return end
}

func endOf(err error) string {
	if err == nil {
		return "exit code 0"
	}
	return err.Error()
}

// terminate returns the program's own error unless that is the signal's. The whole group ends: what the plugin started
// must not outlive it.
func (p *Program) terminate(limit time.Duration) error {
	group := -p.command.Process.Pid
	select {
	case <-p.Exited:
	default:
		_ = syscall.Kill(group, syscall.SIGTERM)
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.Exited:
	case <-timer.C:
		_ = syscall.Kill(group, syscall.SIGKILL)
		<-p.Exited
		return ErrKilled
	}
	var exit *exec.ExitError
	if errors.As(p.err, &exit) {
		if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() && s.Signal() == syscall.SIGTERM {
			return nil
		}
	}
	return p.err
}

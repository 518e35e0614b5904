// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// Defaults of the Options for health.
const (
	DefaultHealthInterval = 5 * time.Second
	DefaultHangTimeout    = 15 * time.Second
)

// stackTime is how long a hung process may take to write its stacks.
const stackTime = time.Second

// guard asks the process for its health until it ends, and ends it when it does not answer in time. An
// answer of any kind will do: PipeCD's plugins do not know the question, but only a live one can say so.
func (p *process) guard(interval, timeout time.Duration) {
	if timeout <= 0 {
		return
	}
	p.guarded.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-p.exited:
				return
			case <-ticker.C:
			}
			if p.stopping.Load() || p.answers(timeout) || p.stopping.Load() || traced(p.command.Process.Pid) {
				continue
			}
			select {
			case <-p.exited:
				return
			default:
			}
			p.abort(fmt.Sprintf("it did not answer a health check within %s%s", timeout, stoppedBySignal(p.command.Process.Pid)))
			return
		}
	})
}

// answers asks once.
func (p *process) answers(timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	asked := make(chan error, 1)
	go func() {
		_, err := grpc_health_v1.NewHealthClient(p.conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
		asked <- err
	}()
	select {
	case err := <-asked:
		code := status.Code(err)
		return code != codes.DeadlineExceeded && code != codes.Unavailable
	case <-p.exited:
		cancel()
		<-asked
		return true // the end is told elsewhere
	}
}

// abort ends a process that is of no use any more, with the reason that its callers are given. A Go program
// writes the stacks of its goroutines first.
func (p *process) abort(reason string) {
	p.reason.Store(&reason)
	p.stopping.Store(true)
	pid := p.command.Process.Pid
	_ = syscall.Kill(pid, syscall.SIGQUIT)
	_ = syscall.Kill(pid, syscall.SIGCONT)
	timer := time.NewTimer(stackTime)
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-timer.C:
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/process"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// stopGrace covers what the server needs to close its etcd.
	stopGrace = 5 * time.Second
	// eventNodeReady comes after the API's own readiness: the node takes pods and images.
	eventNodeReady = "controllers"
	// exitLocked is the program's exit code when another one uses the data directory.
	exitLocked = 3
	// lockedPatience is how long a server of a killed environment may take to end.
	lockedPatience = 10 * time.Second
	// A server that was never ready is given up when it ends more often than crashLimit within crashWindow.
	crashLimit  = 3
	crashWindow = time.Minute
	// crashPause doubles with each recent end, up to longestPause.
	crashPause, longestPause = 200 * time.Millisecond, 10 * time.Second
)

// Run compiles the server if need be, starts it, and starts it again when it dies.
func (p *Provider) Run(ctx context.Context, progress cluster.Progress, ready func(string)) error {
	path, err := p.program.Ensure(ctx, progress)
	if err != nil {
		return stopped(ctx, err)
	}
	if p.programs != nil {
		if err := p.programs.open(); err != nil {
			return err
		}
	}
	pods, err := p.podProcesses()
	if err != nil {
		return err
	}
	crashes := process.Crashes{Limit: crashLimit, Window: crashWindow, Pause: crashPause, Longest: longestPause}
	// A server that has worked is started again also when the system refuses to start a process just then.
	var worked atomic.Bool
	workedOnce := func(detail string) { worked.Store(true); crashes.Ready(); ready(detail) }
	patienceEnds := time.Now().Add(lockedPatience)
	for {
		progress("starting", 0, 0)
		pods.end(ctx)
		server, err := p.start(path, pods, workedOnce)
		if err != nil && !worked.Load() {
			return err
		}
		now := time.Now()
		if err == nil {
			select {
			case <-ctx.Done():
				server.Stop(context.Background(), stopGrace)
				pods.end(context.WithoutCancel(ctx))
				return nil
			case <-server.Done():
			}
			now = time.Now()
			if server.ExitCode() == exitLocked && now.Before(patienceEnds) {
				progress("waiting for the server of an earlier pipedeck to end", 0, 0)
				if !clock.Sleep(ctx, 200*time.Millisecond) {
					return nil
				}
				continue
			}
			err = server.Err()
		}
		recent, wait, giveUp := crashes.Ended(now)
		if giveUp {
			return fmt.Errorf("%w\nthe whole log is in %s", err, p.logFile)
		}
		p.logger.Error("the embedded Kubernetes ended and is started again", "error", err)
		progress(fmt.Sprintf("it ended unexpectedly (%d in the last minute) and is started again; its data is kept",
			recent), 0, 0)
		if !clock.Sleep(ctx, wait) {
			return nil
		}
	}
}

// event is one line of the server's standard output.
type event struct {
	Event  string `json:"event"`
	Server string `json:"server"`
}

func (p *Provider) start(path string, pods podProcesses, ready func(string)) (*process.Process, error) {
	server, err := process.Start(process.Spec{
		Name:    "the embedded Kubernetes",
		Path:    path,
		Args:    p.arguments(),
		Env:     pods.environment(),
		LogFile: p.logFile,
		Line: func(line string) {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil {
				return
			}
			if e.Event == eventNodeReady {
				ready("API at " + e.Server)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	p.started(server.PID())
	return server, nil
}

// arguments are those of the server.
func (p *Provider) arguments() []string {
	args := []string{"--data-dir", p.dir, "--kubeconfig", p.kubeconfig, "--exit-with-stdin"}
	if p.programs != nil {
		args = append(args, "--programs", p.programs.list())
	}
	return args
}

// stopped hides the error of work that ended because it was asked to.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

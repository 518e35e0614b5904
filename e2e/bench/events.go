// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/pipedeck/pipedeck/e2e/drive"
)

// patience bounds the wait for any one thing.
const patience = 2 * time.Minute

type event = drive.Event

// session is a running `pipedeck up --output json`. Nothing is awaited any more once ctx has ended.
type session struct {
	ctx    context.Context
	cmd    *exec.Cmd
	began  time.Time
	events <-chan event
}

func start(ctx context.Context, bin, dir string, args ...string) (*session, error) {
	return follow(ctx, bin, dir, append([]string{"up", "--output", "json"}, args...)...)
}

// follow runs a command that prints events.
func follow(ctx context.Context, bin, dir string, args ...string) (*session, error) {
	cmd := environment(bin, dir).Command(context.Background(), args...)
	cmd.Stderr = os.Stderr
	// Ctrl-C on the terminal is for the bench alone, which then stops what it has started.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s := &session{ctx: ctx, cmd: cmd, began: time.Now()}
	var err error
	if s.events, err = drive.Open(cmd); err != nil {
		return nil, err
	}
	return s, nil
}

// environment is the one below a state directory.
func environment(bin, state string) drive.Environment {
	return drive.Environment{Bin: bin, StateDir: state, Name: "default"}
}

// await returns the next event that matches; those before it are gone.
func (s *session) await(what string, match func(event) bool) (event, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-s.events:
			if !ok {
				return event{}, fmt.Errorf("pipedeck ended before: %s", what)
			}
			if match(e) {
				return e, nil
			}
		case <-s.ctx.Done():
			return event{}, context.Cause(s.ctx)
		case <-timer.C:
			return event{}, fmt.Errorf("never happened: %s", what)
		}
	}
}

// pass lets events come and go for some time.
func (s *session) pass(during time.Duration) error {
	timer := time.NewTimer(during)
	defer timer.Stop()
	for {
		select {
		case _, open := <-s.events:
			if !open {
				return errors.New("pipedeck ended")
			}
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		case <-timer.C:
			return nil
		}
	}
}

func (s *session) stop() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	for range s.events {
	}
	var exit *exec.ExitError
	if err := s.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	return nil
}

func component(name, state string) func(event) bool {
	return func(e event) bool { return e.Is("component", "name", name, "state", state) }
}

func deployment(app, status string) func(event) bool {
	return func(e event) bool { return e.Is("deployment", "app", app, "status", status) }
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// patience bounds the wait for any one thing.
const patience = 2 * time.Minute

// event is one line of --output json and the moment of its arrival.
type event struct {
	at     time.Time
	fields map[string]any
}

func (e event) text(field string) string {
	s, _ := e.fields[field].(string)
	return s
}

// timeOf is a time that the event itself names, zero when it does not.
func (e event) timeOf(field string) time.Time {
	at, _ := time.Parse(time.RFC3339Nano, e.text(field))
	return at
}

// session is a running `pipedeck up --output json`. Nothing is awaited any more once ctx has ended.
type session struct {
	ctx    context.Context
	cmd    *exec.Cmd
	began  time.Time
	events chan event
}

func start(ctx context.Context, bin, dir string, args ...string) (*session, error) {
	cmd := exec.Command(bin+"/pipedeck", append([]string{"up", "--output", "json", "--state-dir", dir}, args...)...)
	cmd.Stderr = os.Stderr
	cmd.Dir = os.TempDir()
	// Ctrl-C on the terminal is for the bench alone, which then stops what it has started.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s := &session{ctx: ctx, cmd: cmd, began: time.Now(), events: make(chan event, 1024)}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.events)
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			e := event{at: time.Now()}
			if json.Unmarshal(lines.Bytes(), &e.fields) == nil {
				s.events <- e
			}
		}
	}()
	return s, nil
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
	return func(e event) bool {
		return e.text("type") == "component" && e.text("name") == name && e.text("state") == state
	}
}

func deployment(app, status string) func(event) bool {
	return func(e event) bool {
		return e.text("type") == "deployment" && e.text("app") == app && e.text("status") == status
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// quiet is how long nothing is reported before the agent counts as idle.
const quiet = 3 * time.Second

// many is an environment with many applications in one repository.
type many struct {
	session    *session
	agent      *agent
	bin, state string
	repository string
	size       scale
	commits    int
}

func (m *many) measure(ctx context.Context) error {
	for _, step := range []func(context.Context) error{m.first, m.idle, m.few, m.together, m.answers, m.leaks} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// first waits for the deployments that follow the start.
func (m *many) first(context.Context) error {
	if _, _, err := m.deployed(m.pick(m.size.applications)); err != nil {
		return err
	}
	number(fmt.Sprintf("%d applications: up -> all deployed", m.size.applications), "s",
		time.Since(m.session.began).Seconds())
	return m.calm()
}

// idle looks at the memory and the CPU of an agent that has nothing to do.
func (m *many) idle(ctx context.Context) error {
	before, err := cpuOf(m.agent.pid)
	began := time.Now()
	var memory []float64
	ticker := time.NewTicker(m.size.idle / 10)
	defer ticker.Stop()
	for len(memory) < 10 {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case _, open := <-m.session.events: // none is expected, and none may block the session
			if !open {
				return errors.New("pipedeck ended")
			}
			continue
		case <-ticker.C:
		}
		resident, err := residentOf(m.agent.pid)
		if err != nil {
			return err
		}
		memory = append(memory, resident/(1<<20))
	}
	numbers(fmt.Sprintf("%d idle applications: memory of the agent", m.size.applications), "MiB", memory, memoryLimit)
	if errors.Is(err, errors.ErrUnsupported) {
		fmt.Println("idle CPU: this system does not report it")
		return nil
	}
	after, afterErr := cpuOf(m.agent.pid)
	if err := errors.Join(err, afterErr); err != nil {
		return err
	}
	number(fmt.Sprintf("the same: CPU of agent and plugins, %.0f s", time.Since(began).Seconds()), "% of a core",
		100*(after-before).Seconds()/time.Since(began).Seconds(), idleLimit)
	return nil
}

// few sees that a commit deploys the applications that it touches, at once, and no other.
func (m *many) few(context.Context) error {
	var triggered, running []time.Duration
	for range m.size.rounds {
		chosen := m.pick(m.size.few)
		committed, err := m.touch(chosen)
		if err != nil {
			return err
		}
		events, _, err := m.deployed(chosen)
		if err != nil {
			return err
		}
		pending, began := time.Time{}, time.Time{}
		for _, e := range events {
			switch {
			case e.Text("type") == "deployment" && e.Text("status") == "PENDING":
				pending = e.At
			case e.Text("type") == "stage" && e.Text("status") == "RUNNING" && began.IsZero():
				began = e.At
			}
		}
		triggered, running = append(triggered, pending.Sub(committed)), append(running, began.Sub(committed))
		if err := m.calm(); err != nil { // which fails at a deployment of any other
			return err
		}
	}
	name := fmt.Sprintf("commit to %d of %d", m.size.few, m.size.applications)
	figures(name+" -> only they triggered", triggered, triggeredLimit)
	figures(name+" -> first stage RUNNING", running)
	return nil
}

// together deploys many at once.
func (m *many) together(context.Context) error {
	var took, used []float64
	for range m.size.rounds {
		chosen := m.pick(m.size.together)
		before, err := cpuOf(m.agent.pid)
		known := !errors.Is(err, errors.ErrUnsupported)
		if err != nil && known {
			return err
		}
		committed, err := m.touch(chosen)
		if err != nil {
			return err
		}
		_, ended, err := m.deployed(chosen)
		if err != nil {
			return err
		}
		took = append(took, ended.Sub(committed).Seconds())
		if err := m.calm(); err != nil {
			return err
		}
		if after, err := cpuOf(m.agent.pid); err == nil {
			used = append(used, (after - before).Seconds())
		} else if known {
			return err
		}
	}
	name := fmt.Sprintf("%d of %d together, WAIT 1s + SCRIPT_RUN", m.size.together, m.size.applications)
	numbers(name, "s", took, togetherLimit)
	if len(used) > 0 {
		numbers("the same: agent, plugins and scripts", "CPU s", used, togetherCPU)
	}
	return nil
}

// answers asks as other user interfaces do.
func (m *many) answers(ctx context.Context) error {
	for _, question := range []string{"status", "apps", "deployments"} {
		took, size, err := ask(ctx, m.bin, m.state, question, "--output", "json")
		if err != nil {
			return err
		}
		number(fmt.Sprintf("pipedeck %s --output json, %d KiB", question, size>>10), "ms", float64(took.Milliseconds()))
	}
	return nil
}

// leaks compares the goroutines of the idle agent before and after every application was deployed once more.
func (m *many) leaks(ctx context.Context) error {
	before, err := m.agent.fewestGoroutines(ctx, quiet)
	if err != nil {
		return err
	}
	all := m.pick(m.size.applications)
	committed, err := m.touch(all)
	if err != nil {
		return err
	}
	_, ended, err := m.deployed(all)
	if err != nil {
		return err
	}
	number(fmt.Sprintf("%d together", m.size.applications), "s", ended.Sub(committed).Seconds())
	if err := m.calm(); err != nil {
		return err
	}
	after, err := m.agent.fewestGoroutines(ctx, quiet)
	if err != nil {
		return err
	}
	number(fmt.Sprintf("goroutines after %d deployments, %d before", m.size.applications, before), "", float64(after))
	number("goroutines leaked", "", float64(max(0, after-before)), leakLimit)
	resident, err := residentOf(m.agent.pid)
	if err != nil {
		return err
	}
	number("memory of the agent then", "MiB", resident/(1<<20))
	return nil
}

// pick chooses n of the applications.
func (m *many) pick(n int) []int { return rand.Perm(m.size.applications)[:n] }

func (m *many) touch(applications []int) (time.Time, error) {
	m.commits++
	return touch(m.repository, applications, fmt.Sprint(m.commits))
}

// deployed waits until each of the applications has been deployed. It returns what was reported meanwhile and the
// moment of the last end. Another application that is deployed, or one that fails, is an error.
func (m *many) deployed(applications []int) (events []event, ended time.Time, err error) {
	chosen, left := map[string]bool{}, map[string]bool{}
	for _, i := range applications {
		chosen[application(i)], left[application(i)] = true, true
	}
	begun := map[string]bool{}
	for len(left) > 0 {
		e, err := m.session.await(fmt.Sprintf("%d of %d applications are deployed", len(left), len(applications)),
			func(event) bool { return true })
		if err != nil {
			return nil, ended, err
		}
		events = append(events, e)
		if e.Text("type") != "deployment" {
			continue
		}
		app, status := e.Text("app"), e.Text("status")
		switch {
		case !chosen[app], status == "FAILURE", status == "CANCELLED", status == "PENDING" && begun[app]:
			return nil, ended, fmt.Errorf("application %s has a deployment with the status %s: %s", app, status,
				e.Text("reason"))
		case status == "PENDING":
			begun[app] = true
		case status == "SUCCESS":
			delete(left, app)
			ended = e.At
		}
	}
	return events, ended, nil
}

// calm waits until nothing has been reported for a while. A deployment that begins is an error.
func (m *many) calm() error {
	for {
		select {
		case <-m.session.ctx.Done():
			return context.Cause(m.session.ctx)
		case e, open := <-m.session.events:
			if !open {
				return errors.New("pipedeck ended")
			}
			if e.Text("type") == "deployment" && e.Text("status") == "PENDING" {
				return fmt.Errorf("application %s is deployed, though no commit has touched it", e.Text("app"))
			}
		case <-time.After(quiet):
			return nil
		}
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// tryKills goes through the matrix.
func tryKills(ctx context.Context, c *chaos) error {
	e, stop, err := c.start(ctx, "kills", c.bin, []string{"--cluster", "embedded"})
	if err != nil {
		return err
	}
	defer stop()
	m := &matrix{environment: e, random: c.random, oracle: newOracle(e)}
	if err := m.killEach(ctx, choose(c.random, c.kills)); err != nil {
		return err
	}
	return m.end(ctx)
}

// killAt kills the named victims, one after the other, at one moment, until a promise is broken.
func (c *chaos) killAt(ctx context.Context, moment string, names ...string) error {
	e, stop, err := c.start(ctx, "kills", c.bin, []string{"--cluster", "none"})
	if err != nil {
		return err
	}
	defer stop()
	m := &matrix{environment: e, random: c.random, oracle: newOracle(e)}
	for _, name := range names {
		for _, one := range allCells() {
			if one.victim.name != name || one.moment.name != moment || len(c.findings.list()) > 0 {
				continue
			}
			if err := m.killEach(ctx, []cell{one}); err != nil {
				return err
			}
		}
	}
	return nil
}

// killEach goes through the cells. What breaks in one does not keep the next from being tried.
func (m *matrix) killEach(ctx context.Context, cells []cell) error {
	for i, cell := range cells {
		began := time.Now()
		if err := m.kill(ctx, cell); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			m.findings.add("kill %d, %s: %v\n%s", i+1, cell, err, m.describe(ctx))
		}
		fmt.Printf("kill %d, %s: %.1f s\n", i+1, cell, time.Since(began).Seconds())
	}
	return nil
}

// start brings up an environment with its first deployments done. The returned function ends what is left of it.
func (c *chaos) start(ctx context.Context, name, bin string, flags []string) (*environment, func(), error) {
	home, err := c.home(name)
	if err != nil {
		return nil, nil, err
	}
	return c.startAt(ctx, filepath.Join(home, "state"), home, bin, flags)
}

// startAt does the same with the state directory and the directory of the witnesses, ledger and repository, given.
func (c *chaos) startAt(ctx context.Context, state, home, bin string, flags []string) (*environment, func(), error) {
	e := &environment{bin: bin, state: state, ledger: filepath.Join(home, "ledger"), flags: flags, findings: c.findings}
	var err error
	kubernetes := !slices.Contains(flags, "none")
	if e.repository, err = createRepository(filepath.Join(home, "repository"), c.self, e.ledger,
		kubernetes); err != nil {
		return nil, nil, err
	}
	e.view = newView(e.state)
	watching, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { e.view.run(watching) })
	stop := func() {
		if _, err := e.published(); err == nil { // an error on the way left it running
			_, _, _, _ = e.pipedeck(context.Background(), "down")
		}
		if s := e.screen(); s != nil {
			s.kill()
		}
		cancel()
		background.Wait()
	}
	if err := e.open(); err != nil {
		stop()
		return nil, nil, err
	}
	apps := append(slices.Clone(steadyApps), appStage, appApproval, appRollback)
	if kubernetes {
		apps = append(apps, appRollout)
	}
	if err := e.settle(ctx, apps); err != nil {
		err = fmt.Errorf("%w\n%s", err, e.describe(context.WithoutCancel(ctx)))
		stop()
		return nil, nil, err
	}
	return e, stop, nil
}

// settle waits until the first deployments have ended, and approves what waits.
func (e *environment) settle(ctx context.Context, apps []string) error {
	if err := e.view.await(ctx, "the first approval waits", func(c content) bool {
		for _, d := range c.deployments {
			if d.GetApplicationName() == appApproval && stageRuns(d, "WAIT_APPROVAL", (*deckv1.Stage).GetCanApprove) {
				return true
			}
		}
		return false
	}); err != nil {
		return err
	}
	for id, d := range e.view.all() {
		if d.GetApplicationName() == appApproval {
			if err := e.approve(ctx, id); err != nil {
				return err
			}
		}
	}
	return e.view.await(ctx, "every application is deployed once", func(c content) bool {
		done := map[string]bool{}
		for _, d := range c.deployments {
			done[d.GetApplicationName()] = done[d.GetApplicationName()] || ended(d)
		}
		return !slices.ContainsFunc(apps, func(app string) bool { return !done[app] })
	})
}

// matrix kills one part after the other while commits go on.
type matrix struct {
	*environment
	random *rand.Rand
	oracle *oracle
	// commits counts the steady ones.
	commits int
}

// kill is one cell: reach the moment, kill, start again what a user would start, and see that all ends well.
func (m *matrix) kill(ctx context.Context, c cell) error {
	committing, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	idle := c.moment.app == ""
	if !idle {
		background.Go(func() { m.commitSteadily(committing) })
	}
	defer func() { stop(); background.Wait() }()

	commit, err := m.begin(ctx, c.moment)
	if err != nil {
		return err
	}
	longest := jitter
	if c.moment.reached == nil && !idle {
		longest = planningTime
	}
	if err := pause(ctx, time.Duration(m.random.Int64N(int64(longest)))); err != nil {
		return err
	}
	approved := false
	if c.moment.name == "approval" && m.random.IntN(2) == 0 { // an answer to an approval must hold
		if err := m.approveCommit(ctx, commit); err != nil {
			return err
		}
		approved = true
	}
	if err := m.strike(ctx, c.victim); err != nil {
		return err
	}
	if c.moment.name == "approval" && !approved {
		if err := m.approveCommit(ctx, commit); err != nil {
			return err
		}
	}
	if idle {
		if commit, err = m.repository.commit(ctx, appStage); err != nil {
			return err
		}
		c.moment.app, c.moment.status = appStage, succeeded
	}
	if err := m.endsAs(ctx, c, commit); err != nil {
		return err
	}
	stop()
	background.Wait()
	if err := m.settled(ctx); err != nil {
		return err
	}
	return errors.Join(m.healthy(ctx), m.podsAnswer(ctx), m.oracle.check(ctx, c.String()))
}

// strike kills the victim and starts again what no one else starts.
func (m *matrix) strike(ctx context.Context, v victim) error {
	pid, err := 0, error(nil)
	for pid == 0 {
		if pid, err = v.find(m.environment); err != nil {
			return fmt.Errorf("find %s: %w", v.name, err)
		}
		if pid == 0 && pause(ctx, 20*time.Millisecond) != nil {
			return context.Cause(ctx)
		}
	}
	if err := kill(pid); err != nil {
		return fmt.Errorf("kill %s, process %d: %w", v.name, pid, err)
	}
	switch v.name {
	case "host":
		m.screen().kill()
		return m.open()
	case "UI":
		<-m.screen().done
		return m.open()
	}
	return nil
}

// endsAs waits for the end of the commit's deployment.
func (m *matrix) endsAs(ctx context.Context, c cell, commit string) error {
	var status deckv1.DeploymentStatus
	var reason string
	if err := m.view.await(ctx, fmt.Sprintf("the deployment of %s at %.7s ends", c.moment.app, commit),
		func(now content) bool {
			d := m.repository.deploymentOf(now, c.moment.app, commit)
			status, reason = d.GetStatus(), d.GetStatusReason()
			return d != nil && ended(d)
		}); err != nil {
		return err
	}
	if status != c.moment.status {
		return fmt.Errorf("the deployment of %s ended as %s, want %s: %s", c.moment.app, status, c.moment.status,
			reason)
	}
	return nil
}

func (m *matrix) approveCommit(ctx context.Context, commit string) error {
	id := ""
	if err := m.view.await(ctx, "the approval waits", func(c content) bool {
		d := m.repository.deploymentOf(c, appApproval, commit)
		id = d.GetId()
		return d != nil && (ended(d) || stageRuns(d, "WAIT_APPROVAL", (*deckv1.Stage).GetCanApprove))
	}); err != nil {
		return err
	}
	return m.approve(ctx, id)
}

// approve repeats until the control plane has answered: parts may be down.
func (e *environment) approve(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := e.approveOnce(ctx, id)
		if err == nil {
			return nil
		}
		if pause(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("approve deployment %s: %w", id, err)
		}
	}
}

func (e *environment) approveOnce(ctx context.Context, id string) error {
	deck, err := e.view.client()
	if err != nil {
		return err
	}
	d := e.view.all()[id]
	for _, s := range d.GetStages() {
		if s.GetName() == "WAIT_APPROVAL" {
			if s.GetStatus() == deckv1.StageStatus_STAGE_STATUS_SUCCESS {
				return nil
			}
			_, err := deck.ApproveStage(ctx, &deckv1.ApproveStageRequest{DeploymentId: id, StageId: s.GetId(),
				Commander: "ada"})
			return err
		}
	}
	return errors.New("the deployment has no stage WAIT_APPROVAL yet")
}

// commitSteadily commits to one of the steady applications after the other.
func (m *matrix) commitSteadily(ctx context.Context) {
	for ; ctx.Err() == nil; m.commits++ {
		if _, err := m.repository.commit(ctx, steadyApps[m.commits%len(steadyApps)]); err != nil && ctx.Err() == nil {
			m.findings.add("commit: %v", err)
		}
		_ = pause(ctx, steadyPause) // its end is that of ctx
	}
}

// end checks what a finished run must have left: logs without a crash, and nothing after `down`.
func (m *matrix) end(ctx context.Context) error {
	if err := noCrashes(m.environment); err != nil {
		return err
	}
	return m.down(ctx)
}

// noCrashes looks for crashes of our programs, which no kill explains.
func noCrashes(e *environment) error {
	root := filepath.Join(e.state, environmentName, "logs")
	return filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(content)) {
			if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") ||
				strings.Contains(line, "DATA RACE") {
				e.findings.add("a crash in %s: %s", path, strings.TrimSpace(line))
			}
		}
		return nil
	})
}

// killAll ends the host and everything that it started, which have no power any more.
func (e *environment) killAll(ctx context.Context) error {
	if running, err := e.published(); err == nil {
		_ = kill(running.PID)
	}
	e.screen().kill()
	return e.nothingLeft(ctx, endsWithin)
}

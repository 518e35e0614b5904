// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// victim is a part that is killed.
type victim struct {
	name string
	// find returns the process; 0 when it is not there at the moment.
	find func(e *environment) (int, error)
}

func victims() []victim {
	all := []victim{
		{"host", func(e *environment) (int, error) {
			running, err := e.published()
			if err != nil {
				return 0, err
			}
			return running.PID, nil
		}},
		{"UI", func(e *environment) (int, error) { return e.screen().cmd.Process.Pid, nil }},
		{"piped", child("piped")},
		{"cluster", child("kubernetes")},
		{"pod", (*environment).podProcess},
	}
	for _, name := range []string{"wait", "waitapproval", "scriptrun", "kubernetes"} {
		all = append(all, victim{"plugin " + name, func(e *environment) (int, error) {
			return e.view.plugin(name),
				nil
		}})
	}
	return all
}

// child finds a process that the host has started.
func child(name string) func(e *environment) (int, error) {
	return func(e *environment) (int, error) {
		running, err := e.published()
		if err != nil {
			return 0, err
		}
		return running.Processes[name].PID, nil
	}
}

// plugin is the process id of a plugin that runs, 0 when it does not.
func (v *view) plugin(name string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	if p := v.now.plugins[name]; p.GetState() == deckv1.Plugin_STATE_RUNNING {
		return int(p.GetPid())
	}
	return 0
}

// moment is what a deployment is at when something is killed.
type moment struct {
	name string
	// app is committed to; nothing is where it is empty.
	app string
	// reached reports whether the deployment is there. Without it the kill follows the commit.
	reached func(d *deckv1.Deployment) bool
	// status is how the deployment must end.
	status deckv1.DeploymentStatus
}

const (
	succeeded = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS
	failed    = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE
)

func moments() []moment {
	any := func(*deckv1.Stage) bool { return true }
	return []moment{
		{name: "idle"},
		// Planning takes milliseconds: the kill comes at a random moment after the commit.
		{"planning", appStage, nil, succeeded},
		{"stage", appStage, func(d *deckv1.Deployment) bool {
			return stageRuns(d, "SCRIPT_RUN", any) || stageRuns(d, "WAIT", any)
		}, succeeded},
		{"approval", appApproval, func(d *deckv1.Deployment) bool {
			return stageRuns(d, "WAIT_APPROVAL", (*deckv1.Stage).GetCanApprove)
		}, succeeded},
		{"rollout", appRollout, func(d *deckv1.Deployment) bool {
			return stageRuns(d, "K8S_CANARY_ROLLOUT", any) || stageRuns(d, "K8S_PRIMARY_ROLLOUT", any)
		}, succeeded},
		{"rollback", appRollback, func(d *deckv1.Deployment) bool {
			return stageRuns(d, "SCRIPT_RUN_ROLLBACK", any)
		}, failed},
	}
}

// cell is one kill.
type cell struct {
	victim victim
	moment moment
}

func (c cell) String() string { return c.victim.name + " × " + c.moment.name }

func allCells() []cell {
	var all []cell
	for _, v := range victims() {
		for _, m := range moments() {
			all = append(all, cell{v, m})
		}
	}
	return all
}

// choose orders the kills at random, in rounds: each round kills every victim once, at moments that differ, and six
// rounds reach every cell. So a plugin is not killed so often within a minute that it is quarantined, which would be
// right and is not what is tried here.
func choose(random *rand.Rand, kills int) []cell {
	who, when := victims(), moments()
	random.Shuffle(len(who), func(i, j int) { who[i], who[j] = who[j], who[i] })
	random.Shuffle(len(when), func(i, j int) { when[i], when[j] = when[j], when[i] })
	rounds := random.Perm(len(when))
	var chosen []cell
	for len(chosen) < kills {
		n := len(chosen)
		round, i := rounds[n/len(who)%len(rounds)], n%len(who)
		chosen = append(chosen, cell{who[i], when[(round+i)%len(when)]})
	}
	return chosen
}

// begin brings a deployment to the moment, and returns its commit.
func (e *environment) begin(ctx context.Context, m moment) (string, error) {
	if m.app == "" {
		return "", e.settled(ctx)
	}
	commit, err := e.repository.commit(ctx, m.app)
	if err != nil {
		return "", err
	}
	if m.reached == nil {
		return commit, nil
	}
	return commit, e.view.await(ctx, fmt.Sprintf("the deployment of %s reaches the moment %q", m.app, m.name),
		func(c content) bool {
			d := e.repository.deploymentOf(c, m.app, commit)
			return d != nil && (m.reached(d) || ended(d))
		})
}

// settled waits until every deployment has ended.
func (e *environment) settled(ctx context.Context) error {
	return e.view.await(ctx, "every deployment ends", func(c content) bool {
		for _, d := range c.deployments {
			if !ended(d) {
				return false
			}
		}
		return true
	})
}

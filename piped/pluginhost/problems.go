// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"fmt"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	pipedhealth "github.com/pipedeck/pipedeck/piped/health"
)

// slowStart is how long a process may take to answer before that counts as a problem.
const slowStart = 10 * time.Second

// problem is why a plugin does not work as it should, and what a user does about it. Zero: it works.
type problem struct{ reason, nextStep string }

// Problems returns a problem for each plugin that does not work as it should.
func (h *Host) Problems() (list []pipedhealth.Problem) {
	for _, p := range h.plugins {
		if found := p.currentProblem(time.Now()); found.reason != "" {
			list = append(list, pipedhealth.Problem{Part: "plugin " + p.Name(), Reason: found.reason, NextStep: found.nextStep})
		}
	}
	return list
}

func (p *Plugin) currentProblem(now time.Time) problem {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.problem == (problem{}) && p.state == agentv1.Plugin_STATE_STARTING && p.process != nil && now.Sub(p.process.started) > slowStart {
		return problem{
			fmt.Sprintf("its process (pid %d) does not answer %s after its start", p.process.command.Process.Pid, slowStart),
			"read its output: pipedeck logs --plugin " + p.Name(),
		}
	}
	return p.problem
}

// restarting is the problem of a plugin that is started again by itself.
func (p *Plugin) restarting(err error) problem {
	return problem{"it ended and is started again: " + err.Error(), "read its output: pipedeck logs --plugin " + p.Name()}
}

// nextStep starts a plugin that piped does not start any more.
func (p *Plugin) nextStep() string {
	command := "pipedeck restart " + p.Name()
	if p.watched.Load() {
		return "fix the binary, which starts it again, or run: " + command
	}
	return "fix the binary, then run: " + command
}

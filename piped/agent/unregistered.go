// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"slices"
	"sync"

	"github.com/pipedeck/pipedeck/piped/health"
	"github.com/pipedeck/pipedeck/piped/trigger"
)

// unregisteredApplications keeps the configurations whose applications no control plane registers before a mistake is
// corrected. Each is a problem of its repository.
type unregisteredApplications struct {
	// changed is called when the answer of problems may have changed.
	changed func()
	// ours reports whether the control plane is ours. At PipeCD's, another piped may have the application: users
	// register applications there and name them.
	ours func() bool

	mu   sync.Mutex
	list []trigger.Unregistered
}

// found takes those of the last pass of the trigger.
func (n *unregisteredApplications) found(list []trigger.Unregistered) {
	n.mu.Lock()
	defer n.mu.Unlock()
	same := slices.Equal(n.list, list)
	n.list = list
	if !same {
		n.changed()
	}
}

// problems is a [health.Source].
func (n *unregisteredApplications) problems() (problems []health.Problem) {
	if !n.ours() {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, one := range n.list {
		problems = append(problems, health.Problem{
			Part:          "configuration of " + one.File + " in repository " + one.Repository,
			Configuration: true,
			Reason:        one.Mistake,
			NextStep:      one.NextStep,
		})
	}
	return problems
}

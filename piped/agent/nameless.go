// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"slices"
	"sync"

	"github.com/pipedeck/pipedeck/piped/health"
	"github.com/pipedeck/pipedeck/piped/trigger"
)

// namelessApplications keeps the configurations that have no name. No control plane registers such an application, so
// each is a problem of its repository.
type namelessApplications struct {
	// changed is called when the answer of problems may have changed.
	changed func()
	// ours reports whether the control plane is ours. At PipeCD's, another piped may have the application: users
	// register applications there and name them.
	ours func() bool

	mu   sync.Mutex
	list []trigger.Nameless
}

// found takes those of the last pass of the trigger.
func (n *namelessApplications) found(list []trigger.Nameless) {
	n.mu.Lock()
	defer n.mu.Unlock()
	same := slices.EqualFunc(n.list, list, func(a, b trigger.Nameless) bool {
		return a.Repository == b.Repository && a.Mistake.Error() == b.Mistake.Error()
	})
	n.list = list
	if !same {
		n.changed()
	}
}

// problems is a [health.Source].
func (n *namelessApplications) problems() (problems []health.Problem) {
	if !n.ours() {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, one := range n.list {
		file := one.Mistake.File
		problems = append(problems, health.Problem{
			Part:          "configuration of " + file + " in repository " + one.Repository,
			Configuration: true,
			Reason:        one.Mistake.Error(),
			NextStep:      "add the name and commit it; to check the file: pipedeck validate " + file,
		})
	}
	return problems
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"fmt"
	"time"

	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// startPatience is how long the start of a component may come no further before that is a problem. The longest step
	// that shows no progress is the creation of a kind cluster's nodes.
	startPatience = 2 * time.Minute
	// startLook is the time between two checks while something starts.
	startLook = time.Second
)

// starts are those of the components.
type starts struct {
	components *components
	server     *controlplane.Server
	// nextStep is what a user does about one that is stuck.
	nextStep string
}

// watch reports the components whose start does not come further, until ctx ends.
func (s starts) watch(ctx context.Context, patience time.Duration) {
	known := map[string]string{}
	for {
		if len(known) == 0 && !s.components.anyStarts() {
			select {
			case <-s.components.stirred:
				continue
			case <-ctx.Done():
				return
			}
		}
		if !clock.Sleep(ctx, min(startLook, patience)) {
			return
		}
		stuck := s.components.stuck(patience)
		for name := range known {
			if _, still := stuck[name]; !still {
				s.server.ClearProblem(startOf(name))
				delete(known, name)
			}
		}
		for name, detail := range stuck {
			known[name] = detail
			s.server.SetProblem(store.Problem{
				Part: startOf(name), Component: name,
				Reason:   fmt.Sprintf("its start has not come further for more than %s: %s", patience, detail),
				NextStep: s.nextStep,
			})
		}
	}
}

// startOf is the part that is the start of a component.
func startOf(component string) string { return component + " start" }

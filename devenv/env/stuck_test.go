// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/none"
)

// slow is a cluster that is ready when the test says so.
type slow struct {
	none.Provider
	ready chan struct{}
}

func (s slow) Run(ctx context.Context, progress cluster.Progress, ready func(string)) error {
	progress("downloading the node image", 0, 0)
	select {
	case <-s.ready:
		ready("it is there")
	case <-ctx.Done():
	}
	<-ctx.Done()
	return nil
}

func TestAStartThatComesNoFurtherIsAProblemUntilItDoes(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	o := options(w)
	s := slow{ready: make(chan struct{})}
	o.Clusters = []Cluster{{"b", func(Hooks) (cluster.Provider, error) { return s, nil }}}
	o.patience = 10 * time.Millisecond
	h := watchHealth(t, deck(t, w, up(t, o).address))
	problem := h.untilProblem(t, "kubernetes b start",
		"not come further for more than 10ms: downloading the node image")
	require.Contains(t, problem.GetNextStep(), "pipedeck down")
	h.until(t, "a degraded cluster",
		func() bool { return h.components["kubernetes b"].GetState() == deckv1.Component_STATE_DEGRADED })
	close(s.ready)
	h.until(t, "a cluster that is ready",
		func() bool { return h.components["kubernetes b"].GetState() == deckv1.Component_STATE_READY })
	h.until(t, "the end of the problem", func() bool {
		for _, p := range h.problems {
			if p.GetPart() == "kubernetes b start" {
				return false
			}
		}
		return true
	})
}

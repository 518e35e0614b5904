// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

// A deploy target that could not be asked, next to others that could, is asked again when its cluster answers, but not
// before a pause that doubles each time: it may answer and refuse.
const (
	firstAwayPause   = 10 * time.Second
	longestAwayPause = 5 * time.Minute
)

// away is a deploy target that could not be asked.
type away struct {
	// pauses are those before its cluster is asked again.
	pauses *wait.Backoff
	// applications are those to report as changed; nil while none waits.
	applications map[string]bool
}

// awaits reports the application as changed when the cluster of a deploy target answers again.
func (s *Store) awaits(target stage.Target, applicationID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.away[target.Name]
	switch {
	case s.closed:
		return
	case a == nil && len(s.away) == maxClusters:
		return // the next look by the clock will do
	case a == nil:
		a = &away{pauses: cluster.Pauses(s.pause, longestAwayPause)}
		s.away[target.Name] = a
	case a.applications != nil:
		a.applications[applicationID] = true
		return
	}
	a.applications = map[string]bool{applicationID: true}
	pause := a.pauses.Step()
	s.runs.Go(func() {
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(pause):
		}
		// Without an answer the question is asked again nevertheless: it has the reason.
		_, _ = s.pool.Connect(s.ctx, target.Config, silent{})
		s.mu.Lock()
		waiting := a.applications
		a.applications = nil
		s.mu.Unlock()
		for id := range waiting {
			s.mark(id)
		}
	})
}

// back forgets that a deploy target could not be asked.
func (s *Store) back(target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.away[target]; a != nil && a.applications == nil {
		delete(s.away, target)
	}
}

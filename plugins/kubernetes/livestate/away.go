// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"time"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

// awayPause is the least time until a deploy target that could not be asked is asked again, beside others that could.
const awayPause = 10 * time.Second

// awaits tells the application as changed when the cluster of a deploy target answers again.
func (s *Store) awaits(target stage.Target, applicationID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.away[target.Name]
	switch {
	case s.closed:
		return
	case waiting != nil:
		waiting[applicationID] = true
		return
	case len(s.away) == maxClusters:
		return // the next look by the clock will do
	}
	s.away[target.Name] = map[string]bool{applicationID: true}
	s.runs.Go(func() {
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(s.pause):
		}
		// Without an answer the question is asked again nevertheless: it has the reason.
		_, _ = s.pool.Connect(s.ctx, target.Config, silent{})
		s.mu.Lock()
		back := s.away[target.Name]
		delete(s.away, target.Name)
		s.mu.Unlock()
		for id := range back {
			s.mark(id)
		}
	})
}

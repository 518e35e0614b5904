// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import "github.com/pipedeck/pipedeck/api/model"

// MetadataDrift is where a plugin of ours says how a resource differs from Git.
const MetadataDrift = "Drift"

// ResourceCounts sums up what lives of an application.
type ResourceCounts struct{ Total, Unhealthy, Unknown, Drifted uint32 }

// Resources returns what the last live state of an application has; empty before the first. They are shared and must not be
// changed. The channel is closed when there is another live state, or none any more.
func (s *Store) Resources(id string) ([]*model.ResourceState, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.application(id)
	if err != nil {
		return nil, nil, err
	}
	if a.news == nil {
		a.news = make(chan struct{})
	}
	return a.live.GetApplicationLiveState().GetResources(), a.news, nil
}

// tellNews wakes those who wait for a live state. The caller holds s.mu.
func (a *application) tellNews() {
	if a.news != nil {
		close(a.news)
		a.news = nil
	}
}

func count(resources []*model.ResourceState) (c ResourceCounts) {
	for _, r := range resources {
		c.Total++
		switch r.GetHealthStatus() {
		case model.ResourceState_UNHEALTHY:
			c.Unhealthy++
		case model.ResourceState_UNKNOWN:
			c.Unknown++
		}
		if r.GetResourceMetadata()[MetadataDrift] != "" {
			c.Drifted++
		}
	}
	return c
}

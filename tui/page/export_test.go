// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

// ShortenRing makes the ring hold few events.
func (s *Server) ShortenRing() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.ring.most = 4
}

// ShortenRuns has the runs of few stages be kept.
func (s *Server) ShortenRuns(most int) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.most = most
}

// Changed is closed when streams are woken.
func (s *Server) Changed() <-chan struct{} {
	_, _, changed := s.hub.reader()
	return changed
}

// OpenLogs is how many logs are read.
func (s *Server) OpenLogs() int {
	s.logs.mu.Lock()
	defer s.logs.mu.Unlock()
	return len(s.logs.open)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

// ShortenRing makes the ring hold few events.
func (s *Server) ShortenRing() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.ring.most = 4
}

// OpenLogs is how many logs are read.
func (s *Server) OpenLogs() int {
	s.logs.mu.Lock()
	defer s.logs.mu.Unlock()
	return len(s.logs.open)
}

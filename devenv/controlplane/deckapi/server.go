// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"context"
	"sync/atomic"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// Server serves DeckService.
type Server struct {
	deckv1.UnimplementedDeckServiceServer
	store    *store.Store
	previews *PlanPreviews
	opener   Opener
	podLog   PodLogReader
	shutdown atomic.Pointer[deckv1.ShutdownRequest]
}

var _ deckv1.DeckServiceServer = (*Server)(nil)

// New returns the service on a store; opener and podLog may be nil.
func New(s *store.Store, opener Opener, podLog PodLogReader) *Server {
	return &Server{store: s, previews: NewPlanPreviews(s), opener: opener, podLog: podLog}
}

// Shutdown only notes the request; the server acts on it once the answer is on its way.
func (s *Server) Shutdown(_ context.Context, r *deckv1.ShutdownRequest) (*deckv1.ShutdownResponse, error) {
	s.shutdown.Store(r)
	return &deckv1.ShutdownResponse{}, nil
}

// ShutdownRequested returns the last Shutdown request; nil when there was none.
func (s *Server) ShutdownRequested() *deckv1.ShutdownRequest { return s.shutdown.Load() }

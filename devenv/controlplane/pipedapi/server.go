// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pipedapi

import (
	"log/slog"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// Server serves PipedService.
type Server struct {
	pipedservice.UnimplementedPipedServiceServer
	store *store.Store
	log   *slog.Logger
}

// Agent serves AgentService.
type Agent struct {
	agentv1.UnimplementedAgentServiceServer
	store *store.Store
}

var (
	_ pipedservice.PipedServiceServer = (*Server)(nil)
	_ agentv1.AgentServiceServer      = (*Agent)(nil)
)

// New returns the services on a store.
func New(s *store.Store, log *slog.Logger) (*Server, *Agent) {
	return &Server{store: s, log: log}, &Agent{store: s}
}

// reply answers with the empty message of a report that went well.
func reply[T any](answer *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return answer, nil
}

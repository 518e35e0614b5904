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
	// selects reports whether an application is registered, by its configuration file; nil: all are.
	selects func(repository, configFile string) bool
	log     *slog.Logger
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

// New returns the services on a store. selects reports by its configuration file whether an application that a piped
// finds in Git is registered; nil: all are.
func New(s *store.Store, selects func(repository, configFile string) bool, log *slog.Logger) (*Server, *Agent) {
	return &Server{store: s, selects: selects, log: log}, &Agent{store: s}
}

// reply answers with the empty message of a report that went well.
func reply[T any](answer *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package publicapi

import (
	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// Server serves APIService.
type Server struct {
	apiservice.UnimplementedAPIServiceServer
	store *store.Store
}

var _ apiservice.APIServiceServer = (*Server)(nil)

// New returns the service on a store.
func New(s *store.Store) *Server { return &Server{store: s} }

// reply answers with the message of a call that went well.
func reply[T any](answer *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package publicapi

import (
	"context"
	"crypto/rand"

	"github.com/google/uuid"

	as "github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/devenv/controlplane/auth"
)

// PipeCD v1: a generated piped key has 50 characters.
const pipedKeyLength = 50

// GetPiped answers with a piped and whether it is connected.
func (s *Server) GetPiped(_ context.Context, r *as.GetPipedRequest) (*as.GetPipedResponse, error) {
	p, err := s.store.Pipeds.Get(r.GetPipedId())
	return reply(&as.GetPipedResponse{Piped: p}, err)
}

// RegisterPiped adds a piped and answers with its id and key; the key is not kept and cannot be
// had again.
func (s *Server) RegisterPiped(_ context.Context, r *as.RegisterPipedRequest) (*as.RegisterPipedResponse, error) {
	id, key := uuid.NewString(), ""
	for len(key) < pipedKeyLength {
		key += rand.Text()
	}
	key = key[:pipedKeyLength]
	if err := s.store.Pipeds.Register(id, r.GetName(), r.GetDesc(), auth.Hash(key)); err != nil {
		return nil, err
	}
	return &as.RegisterPipedResponse{Id: id, Key: key}, nil
}

// UpdatePiped changes name and description.
func (s *Server) UpdatePiped(_ context.Context, r *as.UpdatePipedRequest) (*as.UpdatePipedResponse, error) {
	return reply(&as.UpdatePipedResponse{}, s.store.Pipeds.Update(r.GetPipedId(), r.GetName(), r.GetDesc()))
}

// EnablePiped lets a piped in again.
func (s *Server) EnablePiped(_ context.Context, r *as.EnablePipedRequest) (*as.EnablePipedResponse, error) {
	return reply(&as.EnablePipedResponse{}, s.store.Pipeds.SetDisabled(r.GetPipedId(), false))
}

// DisablePiped keeps a piped out from its next call on.
func (s *Server) DisablePiped(_ context.Context, r *as.DisablePipedRequest) (*as.DisablePipedResponse, error) {
	return reply(&as.DisablePipedResponse{}, s.store.Pipeds.SetDisabled(r.GetPipedId(), true))
}

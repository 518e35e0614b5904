// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	helperv1 "github.com/pipedeck/pipedeck/api/helper/v1"
	"github.com/pipedeck/pipedeck/devenv/helper"
	"github.com/pipedeck/pipedeck/devenv/portforward"
)

// Open implements helperv1.HelperServiceServer.
func (s *Server) Open(ctx context.Context, r *helperv1.OpenRequest) (*helperv1.OpenResponse, error) {
	address, err := s.forwarder.Open(ctx, portforward.Request{
		Cluster: r.GetCluster(), Kubeconfig: r.GetKubeconfig(), ApplicationID: r.GetApplicationId(), Name: r.GetName(),
		Port: r.GetPort(),
	})
	return &helperv1.OpenResponse{Url: address.URL, Detail: address.Detail}, helper.Encode(err)
}

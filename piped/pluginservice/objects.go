// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// GetApplicationSharedObject reads bytes that a plugin stored for an application; NotFound when it did not.
func (s *Server) GetApplicationSharedObject(
	ctx context.Context, request *pluginservice.GetApplicationSharedObjectRequest,
) (*pluginservice.GetApplicationSharedObjectResponse, error) {
	if scratch := s.options.Registry.scratchFor(request.GetApplicationId(), request.GetPluginName()); scratch != nil {
		if object, found := scratch.object(request.GetPluginName(), request.GetKey()); found {
			return &pluginservice.GetApplicationSharedObjectResponse{Object: object}, nil
		}
	}
	response, err := s.options.ControlPlane.GetApplicationSharedObject(
		ctx,
		&pipedservice.GetApplicationSharedObjectRequest{
			ApplicationId: request.GetApplicationId(), PluginName: request.GetPluginName(), Key: request.GetKey(),
		},
	)
	if err != nil {
		return nil, err
	}
	return &pluginservice.GetApplicationSharedObjectResponse{Object: response.GetObject()}, nil
}

// PutApplicationSharedObject stores bytes of a plugin for an application.
func (s *Server) PutApplicationSharedObject(
	ctx context.Context, request *pluginservice.PutApplicationSharedObjectRequest,
) (*pluginservice.PutApplicationSharedObjectResponse, error) {
	if scratch := s.options.Registry.scratchFor(request.GetApplicationId(), request.GetPluginName()); scratch != nil {
		err := scratch.putObject(request.GetPluginName(), request.GetKey(), request.GetObject())
		return &pluginservice.PutApplicationSharedObjectResponse{}, err
	}
	_, err := s.options.ControlPlane.PutApplicationSharedObject(ctx, &pipedservice.PutApplicationSharedObjectRequest{
		ApplicationId: request.GetApplicationId(), PluginName: request.GetPluginName(), Key: request.GetKey(),
		Object: request.GetObject(),
	})
	if err != nil {
		return nil, err
	}
	return &pluginservice.PutApplicationSharedObjectResponse{}, nil
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"

	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/system/clock"
)

// GetStageMetadata reads one value that a stage put.
func (s *Server) GetStageMetadata(
	_ context.Context, request *pluginservice.GetStageMetadataRequest,
) (*pluginservice.GetStageMetadataResponse, error) {
	d, err := s.options.Registry.findKept(request.GetDeploymentId())
	stops := request.GetKey() == StopMetadataKey
	if ended := s.options.Registry.findEnded(request.GetDeploymentId()); err != nil && stops && ended != nil {
		d, err = ended, nil // a piped that stops is done with its deployments before their plugins ask
	}
	if err != nil {
		return nil, err
	}
	if stops {
		why, found := d.stop(request.GetStageId())
		return &pluginservice.GetStageMetadataResponse{Value: why, Found: found}, nil
	}
	value, found := d.get(
		func(d *deployment) map[string]string { return d.stages[request.GetStageId()] }, request.GetKey(),
	)
	return &pluginservice.GetStageMetadataResponse{Value: value, Found: found}, nil
}

// PutStageMetadata saves one value of a stage.
func (s *Server) PutStageMetadata(
	ctx context.Context, request *pluginservice.PutStageMetadataRequest,
) (*pluginservice.PutStageMetadataResponse, error) {
	err := s.putStage(
		ctx, request.GetDeploymentId(), request.GetStageId(), map[string]string{request.GetKey(): request.GetValue()},
	)
	return &pluginservice.PutStageMetadataResponse{}, err
}

// PutStageMetadataMulti saves several values of a stage at once.
func (s *Server) PutStageMetadataMulti(
	ctx context.Context, request *pluginservice.PutStageMetadataMultiRequest,
) (*pluginservice.PutStageMetadataMultiResponse, error) {
	err := s.putStage(ctx, request.GetDeploymentId(), request.GetStageId(), request.GetMetadata())
	return &pluginservice.PutStageMetadataMultiResponse{}, err
}

// GetDeploymentPluginMetadata reads one value that a plugin put for a deployment.
func (s *Server) GetDeploymentPluginMetadata(
	_ context.Context, request *pluginservice.GetDeploymentPluginMetadataRequest,
) (*pluginservice.GetDeploymentPluginMetadataResponse, error) {
	d, err := s.options.Registry.findKept(request.GetDeploymentId())
	if err != nil {
		return nil, err
	}
	value, found := d.get(
		func(d *deployment) map[string]string { return d.plugins[request.GetPluginName()] }, request.GetKey(),
	)
	return &pluginservice.GetDeploymentPluginMetadataResponse{Value: value, Found: found}, nil
}

// PutDeploymentPluginMetadata saves one value of a plugin for a deployment.
func (s *Server) PutDeploymentPluginMetadata(
	ctx context.Context, request *pluginservice.PutDeploymentPluginMetadataRequest,
) (*pluginservice.PutDeploymentPluginMetadataResponse, error) {
	err := s.putPlugin(
		ctx, request.GetDeploymentId(), request.GetPluginName(),
		map[string]string{request.GetKey(): request.GetValue()},
	)
	return &pluginservice.PutDeploymentPluginMetadataResponse{}, err
}

// PutDeploymentPluginMetadataMulti saves several values of a plugin for a deployment at once.
func (s *Server) PutDeploymentPluginMetadataMulti(
	ctx context.Context, request *pluginservice.PutDeploymentPluginMetadataMultiRequest,
) (*pluginservice.PutDeploymentPluginMetadataMultiResponse, error) {
	err := s.putPlugin(ctx, request.GetDeploymentId(), request.GetPluginName(), request.GetMetadata())
	return &pluginservice.PutDeploymentPluginMetadataMultiResponse{}, err
}

// GetDeploymentSharedMetadata reads one value that piped put for all plugins, or asks for one that is not kept.
func (s *Server) GetDeploymentSharedMetadata(
	ctx context.Context, request *pluginservice.GetDeploymentSharedMetadataRequest,
) (*pluginservice.GetDeploymentSharedMetadataResponse, error) {
	d, err := s.options.Registry.find(request.GetDeploymentId())
	if err != nil {
		return nil, err
	}
	if answer := s.options.Answers[request.GetKey()]; answer != nil {
		value, found, err := answer(ctx, d.of)
		return &pluginservice.GetDeploymentSharedMetadataResponse{Value: value, Found: found}, err
	}
	value, found := d.get(func(d *deployment) map[string]string { return d.shared }, request.GetKey())
	return &pluginservice.GetDeploymentSharedMetadataResponse{Value: value, Found: found}, nil
}

func (s *Server) putStage(ctx context.Context, deploymentID, stageID string, values map[string]string) error {
	d, err := s.options.Registry.findKept(deploymentID)
	if err != nil {
		return err
	}
	at := group{place(deploymentID, "stage", stageID), "stage " + stageID}
	return d.put(ctx, d.stages, stageID, at, values, func(ctx context.Context, closed map[string]string) error {
		return s.persist(ctx, func(ctx context.Context) error {
			_, err := s.options.ControlPlane.SaveStageMetadata(ctx, &pipedservice.SaveStageMetadataRequest{
				DeploymentId: deploymentID, StageId: stageID, Metadata: closed,
			})
			return err
		})
	})
}

func (s *Server) putPlugin(ctx context.Context, deploymentID, plugin string, values map[string]string) error {
	d, err := s.options.Registry.findKept(deploymentID)
	if err != nil {
		return err
	}
	at := group{place(deploymentID, "plugin", plugin), "plugin " + plugin}
	return d.put(ctx, d.plugins, plugin, at, values, func(ctx context.Context, closed map[string]string) error {
		return s.persist(ctx, func(ctx context.Context) error {
			_, err := s.options.ControlPlane.SaveDeploymentPluginMetadata(
				ctx,
				&pipedservice.SaveDeploymentPluginMetadataRequest{
					DeploymentId: deploymentID, PluginName: plugin, Metadata: closed,
				},
			)
			return err
		})
	})
}

// persist tries a save until the control plane can be reached or the plugin gives up: a stage must not
// fail because the control plane is away for longer than a call is tried. A piped that leaves tries it once.
func (s *Server) persist(ctx context.Context, save func(context.Context) error) error {
	trying, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.leaving, cancel)()
	backoff := clock.NewBackoff(s.options.SavePause, s.options.SavePause)
	for trying.Err() == nil {
		err := save(trying)
		if !controlplane.Passing(err) {
			return err
		}
		if trying.Err() != nil {
			break // it says no more than that
		}
		s.options.Logger.Warn("metadata of a deployment could not be saved; it is tried again", "error", err)
		if backoff.Wait(trying, s.options.Clock) != nil && ctx.Err() != nil {
			// The code that the plugin's own clock gives it when that one rings first, with the cause.
			return status.Errorf(status.FromContextError(ctx.Err()).Code(), "given up: %v", err)
		}
	}
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	return save(controlplane.Once(ctx))
}

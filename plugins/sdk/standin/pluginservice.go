// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"cmp"
	"context"
	"maps"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// ReportStageLogs keeps blocks for those who watch.
func (p *Piped) ReportStageLogs(_ context.Context,
	req *pluginservice.ReportStageLogsRequest) (*pluginservice.ReportStageLogsResponse, error) {
	p.update(func() {
		stage := p.stage(req.GetStageId())
		stage.calls++
		stage.conflicts += keep(stage.live, req.GetBlocks())
	})
	return &pluginservice.ReportStageLogsResponse{}, nil
}

// ReportStageLogsFromLastCheckpoint keeps blocks for good.
func (p *Piped) ReportStageLogsFromLastCheckpoint(_ context.Context,
	req *pluginservice.ReportStageLogsFromLastCheckpointRequest) (
	*pluginservice.ReportStageLogsFromLastCheckpointResponse, error) {
	p.update(func() {
		stage := p.stage(req.GetStageId())
		stage.calls++
		stage.conflicts += keep(stage.live, req.GetBlocks())
		keep(stage.stored, req.GetBlocks())
		stage.completed = stage.completed || req.GetCompleted()
	})
	return &pluginservice.ReportStageLogsFromLastCheckpointResponse{}, nil
}

// keep drops blocks whose index is known, as the control plane does, and counts those that held another text.
func keep(known map[int64]*model.LogBlock, blocks []*model.LogBlock) (conflicts int) {
	for _, block := range blocks {
		switch before := known[block.GetIndex()]; {
		case before == nil:
			known[block.GetIndex()] = block
		case before.GetLog() != block.GetLog():
			conflicts++
		}
	}
	return conflicts
}

// GetStageMetadata returns what the stage put.
func (p *Piped) GetStageMetadata(_ context.Context,
	req *pluginservice.GetStageMetadataRequest) (*pluginservice.GetStageMetadataResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	value, found := p.stage(req.GetStageId()).metadata[req.GetKey()]
	if !found {
		if answer, known := before[*pluginservice.GetStageMetadataResponse](p, "GetStageMetadata", req); known {
			return answer, nil
		}
	}
	return &pluginservice.GetStageMetadataResponse{Value: value, Found: found}, nil
}

// PutStageMetadata keeps one value.
func (p *Piped) PutStageMetadata(_ context.Context,
	req *pluginservice.PutStageMetadataRequest) (*pluginservice.PutStageMetadataResponse, error) {
	p.update(func() { p.stage(req.GetStageId()).metadata[req.GetKey()] = req.GetValue() })
	return &pluginservice.PutStageMetadataResponse{}, nil
}

// PutStageMetadataMulti keeps several values.
func (p *Piped) PutStageMetadataMulti(_ context.Context,
	req *pluginservice.PutStageMetadataMultiRequest) (*pluginservice.PutStageMetadataMultiResponse, error) {
	p.update(func() { maps.Copy(p.stage(req.GetStageId()).metadata, req.GetMetadata()) })
	return &pluginservice.PutStageMetadataMultiResponse{}, nil
}

// GetDeploymentPluginMetadata returns what the plugin put.
func (p *Piped) GetDeploymentPluginMetadata(_ context.Context,
	req *pluginservice.GetDeploymentPluginMetadataRequest) (*pluginservice.GetDeploymentPluginMetadataResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	value, found := p.plugins[req.GetPluginName()][req.GetKey()]
	if !found {
		if answer, known := before[*pluginservice.GetDeploymentPluginMetadataResponse](p, "GetDeploymentPluginMetadata",
			req); known {
			return answer, nil
		}
	}
	return &pluginservice.GetDeploymentPluginMetadataResponse{Value: value, Found: found}, nil
}

// PutDeploymentPluginMetadata keeps one value.
func (p *Piped) PutDeploymentPluginMetadata(_ context.Context,
	req *pluginservice.PutDeploymentPluginMetadataRequest) (*pluginservice.PutDeploymentPluginMetadataResponse, error) {
	p.putPlugin(req.GetPluginName(), map[string]string{req.GetKey(): req.GetValue()})
	return &pluginservice.PutDeploymentPluginMetadataResponse{}, nil
}

// PutDeploymentPluginMetadataMulti keeps several values.
func (p *Piped) PutDeploymentPluginMetadataMulti(_ context.Context,
	req *pluginservice.PutDeploymentPluginMetadataMultiRequest) (
	*pluginservice.PutDeploymentPluginMetadataMultiResponse, error) {
	p.putPlugin(req.GetPluginName(), req.GetMetadata())
	return &pluginservice.PutDeploymentPluginMetadataMultiResponse{}, nil
}

func (p *Piped) putPlugin(plugin string, values map[string]string) {
	p.update(func() {
		if p.plugins[plugin] == nil {
			p.plugins[plugin] = make(map[string]string)
		}
		maps.Copy(p.plugins[plugin], values)
	})
}

// GetDeploymentSharedMetadata returns what the test set.
func (p *Piped) GetDeploymentSharedMetadata(_ context.Context,
	req *pluginservice.GetDeploymentSharedMetadataRequest) (*pluginservice.GetDeploymentSharedMetadataResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	value, found := p.shared[req.GetKey()]
	if !found {
		if answer, known := before[*pluginservice.GetDeploymentSharedMetadataResponse](p, "GetDeploymentSharedMetadata",
			req); known {
			return answer, nil
		}
	}
	return &pluginservice.GetDeploymentSharedMetadataResponse{Value: value, Found: found}, nil
}

// GetApplicationSharedObject returns a stored object.
func (p *Piped) GetApplicationSharedObject(_ context.Context,
	req *pluginservice.GetApplicationSharedObjectRequest) (*pluginservice.GetApplicationSharedObjectResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	object, ok := p.objects[req.GetApplicationId()+"/"+req.GetPluginName()+"/"+req.GetKey()]
	if !ok {
		if answer, known := before[*pluginservice.GetApplicationSharedObjectResponse](p, "GetApplicationSharedObject",
			req); known {
			return answer, nil
		}
		return nil, status.Error(codes.NotFound, "no such object")
	}
	return &pluginservice.GetApplicationSharedObjectResponse{Object: object}, nil
}

// PutApplicationSharedObject stores an object.
func (p *Piped) PutApplicationSharedObject(_ context.Context,
	req *pluginservice.PutApplicationSharedObjectRequest) (*pluginservice.PutApplicationSharedObjectResponse, error) {
	p.update(func() {
		p.objects[req.GetApplicationId()+"/"+req.GetPluginName()+"/"+req.GetKey()] = req.GetObject()
	})
	return &pluginservice.PutApplicationSharedObjectResponse{}, nil
}

// InstallTool notes the request and installs nothing.
func (p *Piped) InstallTool(_ context.Context,
	req *pluginservice.InstallToolRequest) (*pluginservice.InstallToolResponse, error) {
	tool := req.GetName() + "-" + req.GetVersion()
	p.update(func() { p.installed = append(p.installed, tool) })
	if answer, known := before[*pluginservice.InstallToolResponse](p, "InstallTool", req); known {
		return answer, nil
	}
	path := ""
	if p.options.Tool != nil {
		path = p.options.Tool(req.GetName(), req.GetVersion())
	}
	return &pluginservice.InstallToolResponse{InstalledPath: cmp.Or(path, "/tools/"+tool)}, nil
}

// ListStageCommands returns all commands of a stage, every time (PipeCD v1).
func (p *Piped) ListStageCommands(_ context.Context,
	req *pluginservice.ListStageCommandsRequest) (*pluginservice.ListStageCommandsResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &pluginservice.ListStageCommandsResponse{Commands: p.stage(req.GetStageId()).commands}, nil
}

// WatchStageCommands pushes each command of a stage once.
func (p *Piped) WatchStageCommands(req *agentv1.WatchStageCommandsRequest,
	stream grpc.ServerStreamingServer[agentv1.WatchStageCommandsResponse]) error {
	sent := 0
	for {
		p.mu.Lock()
		changed := p.changed
		fresh := p.stage(req.GetStageId()).commands[sent:]
		p.mu.Unlock()
		if len(fresh) > 0 {
			if err := stream.Send(&agentv1.WatchStageCommandsResponse{Commands: fresh}); err != nil {
				return err
			}
			sent += len(fresh)
		}
		select {
		case <-changed:
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

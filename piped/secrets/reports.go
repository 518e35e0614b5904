// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"
	"path"
	"reflect"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// MaskReports is the client with secrets masked in all free text of its requests. Requests are not changed:
// what holds a secret is copied. What plugins store as shared objects passes as it is.
func MaskReports(client pipedservice.PipedServiceClient, masker *Masker) pipedservice.PipedServiceClient {
	return pipedservice.NewPipedServiceClient(&masked{client: reflect.ValueOf(client), masker: masker, logs: map[logID]*stageLog{}})
}

// masked hands calls on to the methods of a client. It stands where a connection would, so that no method
// is forgotten.
type masked struct {
	client reflect.Value
	masker *Masker

	mu   sync.Mutex
	logs map[logID]*stageLog
	uses uint64
}

func (c *masked) Invoke(ctx context.Context, method string, request, answer any, options ...grpc.CallOption) error {
	call := c.client.MethodByName(path.Base(method))
	in := []reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(c.mask(request.(proto.Message)))}
	for _, option := range options {
		in = append(in, reflect.ValueOf(option))
	}
	out := call.Call(in)
	if err, failed := out[1].Interface().(error); failed {
		return err
	}
	proto.Merge(answer.(proto.Message), out[0].Interface().(proto.Message))
	return nil
}

// NewStream is never called: PipedService has no streams.
func (c *masked) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "streams are not masked")
}

func (c *masked) mask(request proto.Message) proto.Message {
	switch r := request.(type) {
	case *pipedservice.ReportStageLogsRequest:
		id := logID{r.GetDeploymentId(), r.GetStageId(), r.GetRetriedCount()}
		return &pipedservice.ReportStageLogsRequest{
			DeploymentId: id.deployment, StageId: id.stage, RetriedCount: id.attempt, Blocks: c.maskLog(id, r.GetBlocks(), false),
		}
	case *pipedservice.ReportStageLogsFromLastCheckpointRequest:
		id := logID{r.GetDeploymentId(), r.GetStageId(), r.GetRetriedCount()}
		return &pipedservice.ReportStageLogsFromLastCheckpointRequest{
			DeploymentId: id.deployment, StageId: id.stage, RetriedCount: id.attempt, Completed: r.GetCompleted(),
			Blocks: c.maskLog(id, r.GetBlocks(), true),
		}
	default:
		return c.masker.Message(request)
	}
}

func (c *masked) maskLog(id logID, blocks []*model.LogBlock, checkpoint bool) []*model.LogBlock {
	c.mu.Lock()
	defer c.mu.Unlock()
	log := c.logs[id]
	if log == nil {
		c.forgetOldest()
		log = &stageLog{}
		c.logs[id] = log
	}
	c.uses++
	log.used = c.uses
	if !checkpoint {
		blocks, log.live = c.masker.maskBlocks(log.live, blocks)
		return blocks
	}
	blocks, log.checkpoint = c.masker.maskBlocks(log.checkpoint, blocks)
	log.live = log.checkpoint
	return blocks
}

func (c *masked) forgetOldest() {
	if len(c.logs) < maxLogs {
		return
	}
	var oldest logID
	used := c.uses + 1
	for id, log := range c.logs {
		if log.used < used {
			oldest, used = id, log.used
		}
	}
	delete(c.logs, oldest)
}

// MaskAgent is the client with secrets masked in what it reports of plugin processes and of piped's health.
func MaskAgent(client agentv1.AgentServiceClient, masker *Masker) agentv1.AgentServiceClient {
	return &maskedAgent{client, masker}
}

type maskedAgent struct {
	agentv1.AgentServiceClient
	masker *Masker
}

func (c *maskedAgent) ReportPlugins(ctx context.Context, request *agentv1.ReportPluginsRequest, options ...grpc.CallOption) (*agentv1.ReportPluginsResponse, error) {
	return c.AgentServiceClient.ReportPlugins(ctx, c.masker.Message(request).(*agentv1.ReportPluginsRequest), options...)
}

func (c *maskedAgent) ReportHealth(ctx context.Context, request *agentv1.ReportHealthRequest, options ...grpc.CallOption) (*agentv1.ReportHealthResponse, error) {
	return c.AgentServiceClient.ReportHealth(ctx, c.masker.Message(request).(*agentv1.ReportHealthRequest), options...)
}

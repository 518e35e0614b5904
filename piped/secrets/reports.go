// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// Reports returns a layer that masks secrets in all free text of the requests that pass it. Requests are not changed:
// those that hold a secret are copied. What plugins store as shared objects passes as it is.
func Reports(masker *Masker) grpc.UnaryClientInterceptor {
	m := &masked{masker: masker, logs: map[logID]*stageLog{}}
	return func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption) error {
		return invoke(ctx, method, m.mask(request.(proto.Message)), reply, conn, opts...)
	}
}

// masked masks requests, and remembers the unfinished lines of stage logs.
type masked struct {
	masker *Masker

	mu   sync.Mutex
	logs map[logID]*stageLog
	uses uint64
}

func (m *masked) mask(request proto.Message) proto.Message {
	switch r := request.(type) {
	case *pipedservice.ReportStageLogsRequest:
		id := logID{r.GetDeploymentId(), r.GetStageId(), r.GetRetriedCount()}
		return &pipedservice.ReportStageLogsRequest{
			DeploymentId: id.deployment, StageId: id.stage, RetriedCount: id.attempt,
			Blocks: m.maskLog(id, r.GetBlocks(), false),
		}
	case *pipedservice.ReportStageLogsFromLastCheckpointRequest:
		id := logID{r.GetDeploymentId(), r.GetStageId(), r.GetRetriedCount()}
		return &pipedservice.ReportStageLogsFromLastCheckpointRequest{
			DeploymentId: id.deployment, StageId: id.stage, RetriedCount: id.attempt, Completed: r.GetCompleted(),
			Blocks: m.maskLog(id, r.GetBlocks(), true),
		}
	default:
		return m.masker.Message(request)
	}
}

func (m *masked) maskLog(id logID, blocks []*model.LogBlock, checkpoint bool) []*model.LogBlock {
	m.mu.Lock()
	defer m.mu.Unlock()
	log := m.logs[id]
	if log == nil {
		m.forgetOldest()
		log = &stageLog{}
		m.logs[id] = log
	}
	m.uses++
	log.used = m.uses
	if !checkpoint {
		blocks, log.live = m.masker.maskBlocks(log.live, blocks)
		return blocks
	}
	blocks, log.checkpoint = m.masker.maskBlocks(log.checkpoint, blocks)
	log.live = log.checkpoint
	return blocks
}

func (m *masked) forgetOldest() {
	if len(m.logs) < maxLogs {
		return
	}
	var oldest logID
	used := m.uses + 1
	for id, log := range m.logs {
		if log.used < used {
			oldest, used = id, log.used
		}
	}
	delete(m.logs, oldest)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"time"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/rollout"
)

// maxMargin is how long before piped cancels a stage its work ends at most: time to say why it was not done.
const maxMargin = 3 * time.Second

// withDeadline ends the work of a stage a little before its `timeout` of the pipeline, so that it fails with the state
// of what it waited for, and is not just cancelled.
func withDeadline(ctx context.Context, req *Request) (context.Context, context.CancelFunc) {
	timeout := stageTimeout(req)
	if timeout <= 0 {
		return ctx, func() {}
	}
	ends := timeout - min(timeout/10, maxMargin)
	return context.WithTimeoutCause(ctx, ends, &rollout.TimeoutError{Timeout: ends,
		Setting: "the stage's timeout: " + timeout.String()})
}

// stageTimeout is what the pipeline says for the stage; 0 when it says nothing. A pipeline that cannot be read is
// reported where it is needed.
func stageTimeout(req *Request) time.Duration {
	if req.Target == nil {
		return 0
	}
	stages, err := req.Target.App.PipelineStages(req.Target.ConfigData)
	if err != nil {
		return 0
	}
	wanted, _ := config.SingleName(req.Stage.Name)
	for _, s := range stages {
		if name, _ := config.SingleName(s.Name); name == wanted && s.Index == req.Stage.Index {
			return s.Timeout
		}
	}
	return 0
}

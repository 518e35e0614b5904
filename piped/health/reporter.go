// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// heartbeat is the time between two reports without a change. The control plane of pipedeck counts a piped as not
	// working after 12 s without a call.
	heartbeat     = 5 * time.Second
	reportTimeout = 4 * time.Second
	// changePause bounds how often changes are reported.
	changePause = 200 * time.Millisecond
	// askAgain is when a control plane that does not know the call is asked again: it may have been replaced.
	askAgain = 10 * time.Minute
)

// receiver is the part of AgentService that a Reporter calls.
type receiver interface {
	ReportHealth(
		ctx context.Context, in *agentv1.ReportHealthRequest, opts ...grpc.CallOption,
	) (*agentv1.ReportHealthResponse, error)
}

// Reporter sends the problems of a registry to the control plane.
type Reporter struct {
	registry *Registry
	receiver receiver
	timer    clock.Timer
	logger   *slog.Logger
}

// NewReporter returns a Reporter for a registry, which waits by the timer.
func NewReporter(registry *Registry, receiver receiver, timer clock.Timer, logger *slog.Logger) *Reporter {
	return &Reporter{registry: registry, receiver: receiver, timer: timer, logger: logger}
}

// Run reports every 5 s and at each change, until ctx ends. It always returns nil.
func (r *Reporter) Run(ctx context.Context) error {
	failed := ""
	for ctx.Err() == nil {
		changed := r.registry.Changed()
		pause := heartbeat
		switch err := r.report(ctx); {
		case status.Code(err) == codes.Unimplemented:
			pause, changed = askAgain, nil // PipeCD's control plane
		case err != nil && ctx.Err() == nil && err.Error() != failed:
			failed = err.Error()
			r.logger.Debug("report of the health failed, it is repeated", "error", err)
		case err == nil:
			failed = ""
		}
		if r.wait(ctx, changed, pause) {
			r.wait(ctx, nil, changePause)
		}
	}
	return nil
}

// wait ends after d, with ctx, or when changed is closed, which it reports.
func (r *Reporter) wait(ctx context.Context, changed <-chan struct{}, d time.Duration) bool {
	select {
	case <-r.timer.After(d):
	case <-changed:
		return true
	case <-ctx.Done():
	}
	return false
}

func (r *Reporter) report(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(controlplane.Once(ctx), reportTimeout)
	defer cancel()
	request := &agentv1.ReportHealthRequest{}
	for _, p := range r.registry.Problems() {
		request.Problems = append(request.Problems, &agentv1.Problem{
			Part: p.Part, Reason: p.Reason, NextStep: p.NextStep, Since: timestamppb.New(p.Since),
			ApplicationId: p.ApplicationID, Configuration: p.Configuration,
		})
	}
	_, err := r.receiver.ReportHealth(ctx, request)
	return err
}

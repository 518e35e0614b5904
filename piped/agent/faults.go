// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/fault"
)

// maxFaultAnswers bounds the answers that wait to be reported. The control plane waits for a few at most.
const maxFaultAnswers = 100

// faultClient is the part of the control plane that a faultReporter calls.
type faultClient interface {
	ReportFaults(ctx context.Context, in *agentv1.ReportFaultsRequest, opts ...grpc.CallOption) (
		*agentv1.ReportFaultsResponse, error)
}

// faultReporter does what users want of faults, and reports those that wait to the control plane at every change.
type faultReporter struct {
	set    *fault.Set
	client faultClient
	logger *slog.Logger
	wake   chan struct{}

	mu      sync.Mutex
	answers []*agentv1.FaultAnswer
	again   bool
}

func newFaultReporter(set *fault.Set, client faultClient, logger *slog.Logger) *faultReporter {
	return &faultReporter{set: set, client: client, logger: logger, wake: make(chan struct{}, 1)}
}

// take does what users want. again says that the control plane may not know any longer what was reported.
func (r *faultReporter) take(orders []*agentv1.FaultOrder, again bool) {
	if len(orders) == 0 && !again {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.again = r.again || again
	for _, order := range orders {
		r.answers = append(r.answers, r.answer(order))
	}
	r.answers = r.answers[max(0, len(r.answers)-maxFaultAnswers):]
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *faultReporter) answer(order *agentv1.FaultOrder) *agentv1.FaultAnswer {
	answer := &agentv1.FaultAnswer{Order: order.GetId()}
	if order.GetRule() == "" {
		answer.Faults = r.set.Remove(order.GetRemove())
		return answer
	}
	added, err := r.set.Add(order.GetRule(), order.GetApplicationId())
	if err != nil {
		answer.Problem = err.Error()
		return answer
	}
	r.logger.Warn("a fault will be injected on purpose", "rule", order.GetRule())
	answer.Faults = []*agentv1.Fault{added}
	return answer
}

// Run reports until ctx ends. It returns early, without an error, when the control plane does not know the call. What
// could not be reported is reported once the watch of the control plane is open again.
func (r *faultReporter) Run(ctx context.Context) error {
	var known []*agentv1.Fault
	for {
		changed := r.set.Changed()
		request := &agentv1.ReportFaultsRequest{Faults: r.set.List()}
		r.mu.Lock()
		request.Answers, r.answers = r.answers, nil
		again := r.again
		r.again = false
		r.mu.Unlock()
		same := slices.EqualFunc(known, request.Faults, func(a, b *agentv1.Fault) bool { return proto.Equal(a, b) })
		if !same || again || len(request.Answers) > 0 {
			_, err := r.client.ReportFaults(ctx, request)
			switch {
			case ctx.Err() != nil, status.Code(err) == codes.Unimplemented:
				return nil
			case err != nil:
				r.logger.Debug("report of faults failed", "error", err)
			default:
				known = request.Faults
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-r.wake:
		}
	}
}

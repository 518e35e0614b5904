// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/fault"
)

// faultReports are the reports of faults that a control plane gets.
type faultReports chan *agentv1.ReportFaultsRequest

func (r faultReports) ReportFaults(_ context.Context, in *agentv1.ReportFaultsRequest, _ ...grpc.CallOption) (
	*agentv1.ReportFaultsResponse, error) {
	r <- in
	return &agentv1.ReportFaultsResponse{}, nil
}

func TestFaultsAreReportedAtEveryChange(t *testing.T) {
	t.Parallel()
	reports := make(faultReports)
	r := newFaultReporter(fault.New(), reports, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.Run(ctx) }()
	r.take(nil, true)
	require.Empty(t, (<-reports).GetFaults())
	r.take([]*agentv1.FaultOrder{{Id: 1, Rule: "WAIT: hang"}}, false)
	added := untilAnswer(reports, 1)
	require.Equal(t, "WAIT: hang", added.GetFaults()[0].GetRule())
	r.take([]*agentv1.FaultOrder{{Id: 2, Rule: "WAIT: hank"}}, false)
	require.Contains(t, untilAnswer(reports, 2).GetProblem(), "column 7")
	r.set.Begin(fault.Stage{Names: []string{"WAIT"}})
	require.Empty(t, (<-reports).GetFaults(), "it happens now")
	r.take([]*agentv1.FaultOrder{{Id: 3}}, false)
	require.Empty(t, untilAnswer(reports, 3).GetFaults())
	cancel()
	require.NoError(t, <-ended)
}

// untilAnswer reads reports up to that with the answer to an order.
func untilAnswer(reports faultReports, order uint64) *agentv1.FaultAnswer {
	for report := range reports {
		for _, answer := range report.GetAnswers() {
			if answer.GetOrder() == order {
				return answer
			}
		}
	}
	return nil
}

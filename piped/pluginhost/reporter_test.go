// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

// receiver is the control plane's side of the reports.
type receiver struct {
	reports chan *agentv1.ReportPluginsRequest
	err     error
}

func (r *receiver) ReportPlugins(
	ctx context.Context, in *agentv1.ReportPluginsRequest, _ ...grpc.CallOption,
) (*agentv1.ReportPluginsResponse, error) {
	if r.err != nil {
		return nil, r.err
	}
	select {
	case r.reports <- in:
		return &agentv1.ReportPluginsResponse{}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestEveryChangeOfAPluginIsReported(t *testing.T) {
	t.Parallel()
	host := start(t, nil, entry(t, "p", settings{"stages": []string{"A"}}))
	r := &receiver{reports: make(chan *agentv1.ReportPluginsRequest)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- pluginhost.NewReporter(host, r, slog.New(slog.DiscardHandler)).Run(ctx) }()
	await := func(wanted func(*agentv1.Plugin) bool) {
		t.Helper()
		deadline := time.After(wait)
		for {
			select {
			case report := <-r.reports:
				if wanted(report.GetPlugins()[0]) {
					return
				}
			case <-deadline:
				require.Fail(t, "the change was not reported")
			}
		}
	}
	await(func(p *agentv1.Plugin) bool {
		return p.GetState() == agentv1.Plugin_STATE_RUNNING && p.GetRssBytes() > 0 && len(p.GetStages()) == 1
	})
	require.NoError(t, host.Restart("p"))
	await(func(p *agentv1.Plugin) bool {
		return p.GetState() == agentv1.Plugin_STATE_RUNNING && p.GetRestarts() == 1
	})
	cancel()
	require.NoError(t, <-done)
}

func TestReporterEndsQuietlyAtAControlPlaneOfPipeCD(t *testing.T) {
	t.Parallel()
	host := start(t, nil, entry(t, "p", settings{}))
	r := &receiver{err: status.Error(codes.Unimplemented, "unknown service")}
	require.NoError(t, pluginhost.NewReporter(host, r, slog.New(slog.DiscardHandler)).Run(t.Context()))
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

const (
	sampleInterval = 3 * time.Second
	reportTimeout  = 5 * time.Second
	reportPause    = time.Second // after a failed report
)

// statusReceiver is the part of AgentService that a Reporter calls.
type statusReceiver interface {
	ReportPlugins(
		ctx context.Context, in *agentv1.ReportPluginsRequest, opts ...grpc.CallOption,
	) (*agentv1.ReportPluginsResponse, error)
}

// Reporter reports the plugin processes to the control plane: at every change, and every 3 s what they
// use.
type Reporter struct {
	host     *Host
	receiver statusReceiver
	logger   *slog.Logger
}

// NewReporter creates a Reporter for the plugins of a host.
func NewReporter(host *Host, receiver statusReceiver, logger *slog.Logger) *Reporter {
	return &Reporter{host: host, receiver: receiver, logger: logger}
}

// Run reports until ctx ends. It returns early, without an error, when the control plane is one of
// PipeCD's, which does not know the call.
func (r *Reporter) Run(ctx context.Context) error {
	for {
		changed := r.host.Changed()
		r.host.Sample()
		err, pause := r.report(ctx), sampleInterval
		switch {
		case ctx.Err() != nil:
			return nil
		case status.Code(err) == codes.Unimplemented:
			return nil
		case err != nil:
			r.logger.Debug("report of plugin states failed, it is repeated", "error", err)
			changed = nil
			pause = reportPause
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-r.host.options.Clock.After(pause):
		}
	}
}

func (r *Reporter) report(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	_, err := r.receiver.ReportPlugins(ctx, &agentv1.ReportPluginsRequest{Plugins: r.host.Status()})
	return err
}

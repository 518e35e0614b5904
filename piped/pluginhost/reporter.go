// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// sampleInterval is the time between two measures while a plugin works, restSample while none does.
	sampleInterval = 3 * time.Second
	restSample     = 5 * time.Second
	// maxSilence is the time after which a report is sent that says nothing new: the control plane may have forgotten
	// the one before.
	maxSilence    = 10 * time.Second
	reportTimeout = 5 * time.Second
	reportPause   = time.Second // after a failed report
)

// Figures that differ by less from what was reported are no news while no plugin works.
const (
	newMemory  = 1 << 20 // bytes
	newCPU     = 1       // hundredths of one core
	newHandles = 5       // open files, threads, goroutines
)

// statusReceiver is the part of AgentService that a Reporter calls.
type statusReceiver interface {
	ReportPlugins(
		ctx context.Context, in *agentv1.ReportPluginsRequest, opts ...grpc.CallOption,
	) (*agentv1.ReportPluginsResponse, error)
}

// Reporter reports the plugin processes to the control plane: at every change, every 3 s what they use while one of
// them works, and otherwise within 5 s when that has changed much.
type Reporter struct {
	host     *Host
	receiver statusReceiver
	logger   *slog.Logger
	// last is what was reported at the time at; nil when that has failed.
	last []*agentv1.Plugin
	at   time.Time
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
		working := r.host.working()
		err, pause := r.report(ctx, working), clock.Together(r.host.options.Clock.Now(), restSample)
		switch {
		case ctx.Err() != nil:
			return nil
		case status.Code(err) == codes.Unimplemented:
			return nil
		case err != nil:
			r.logger.Debug("report of plugin states failed, it is repeated", "error", err)
			changed = nil
			pause = reportPause
		case working:
			pause = sampleInterval
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-r.host.options.Clock.After(pause):
		}
	}
}

// report sends what the plugins do now, unless that is no news.
func (r *Reporter) report(ctx context.Context, working bool) error {
	plugins, now := r.host.Status(), r.host.options.Clock.Now()
	if !working && now.Sub(r.at) < maxSilence && slices.EqualFunc(r.last, plugins, alike) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	_, err := r.receiver.ReportPlugins(ctx, &agentv1.ReportPluginsRequest{Plugins: plugins})
	r.last, r.at = plugins, now
	if err != nil {
		r.last = nil
	}
	return err
}

// alike reports whether two states of a plugin differ by small changes of figures only.
func alike(before, now *agentv1.Plugin) bool {
	near := func(a, b, step float64) bool { return math.Abs(a-b) < step }
	if !near(float64(before.GetRssBytes()), float64(now.GetRssBytes()), newMemory) ||
		!near(before.GetCpuPercent(), now.GetCpuPercent(), newCPU) ||
		!near(float64(before.GetOpenFiles()), float64(now.GetOpenFiles()), newHandles) ||
		!near(float64(before.GetThreads()), float64(now.GetThreads()), newHandles) ||
		!near(float64(before.GetGoroutines()), float64(now.GetGoroutines()), newHandles) {
		return false
	}
	rest := proto.CloneOf(now)
	rest.RssBytes, rest.CpuPercent = before.GetRssBytes(), before.GetCpuPercent()
	rest.OpenFiles, rest.Threads, rest.Goroutines = before.GetOpenFiles(), before.GetThreads(), before.GetGoroutines()
	return proto.Equal(before, rest)
}

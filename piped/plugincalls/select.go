// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugincalls

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

// Select returns the calls that fit a filter and have begun or ended after a version, in the order of their last
// change, and the version up to which they are. Version 0 is before all calls. At most batch calls come at once; more
// says that there are others.
func (l *Log) Select(filter *agentv1.PluginCallFilter, after uint64, messages bool,
) (calls []*agentv1.PluginCall, version uint64, more bool) {
	found, version, more := l.find(filter, after)
	for _, e := range found {
		calls = append(calls, l.show(&e, messages))
	}
	return calls, version, more
}

// batch bounds how many calls one Select returns: with messages they are at most a few MiB.
const batch = 20

// find copies the entries.
func (l *Log) find(filter *agentv1.PluginCallFilter, after uint64) (found []entry, version uint64, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*entry
	for _, of := range l.plugins {
		for i := range of {
			for _, e := range of[i].entries {
				if e.version > after && l.fits(e, filter) {
					all = append(all, e)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b *entry) int { return cmp.Compare(a.version, b.version) })
	version = l.version
	if more = len(all) > batch; more {
		all = all[:batch]
		version = all[batch-1].version
	}
	for _, e := range all {
		found = append(found, *e)
	}
	return found, version, more
}

// fits compares a call with a filter; l.mu is held.
func (l *Log) fits(e *entry, f *agentv1.PluginCallFilter) bool {
	is := func(wanted string, values ...string) bool { return wanted == "" || slices.Contains(values, wanted) }
	return is(f.GetPlugin(), e.plugin) && is(f.GetDeploymentId(), e.deployment) &&
		is(f.GetStage(), e.stageID, e.stageName) && (f.GetId() == "" || f.GetId() == l.id(e)) &&
		(!f.GetFailed() || e.failed) && (f.GetChecks() || f.GetId() != "" || !strings.HasPrefix(e.method, checks))
}

// checks begins the methods that check whether a plugin works.
const checks = "/grpc.health.v1."

// Await returns when a call has begun or ended after a version, or when ctx has ended.
func (l *Log) Await(ctx context.Context, after uint64) error {
	l.mu.Lock()
	if l.version > after {
		l.mu.Unlock()
		return nil
	}
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	changed := l.changed
	l.mu.Unlock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// show is a call as users see it.
func (l *Log) show(e *entry, messages bool) *agentv1.PluginCall {
	call := &agentv1.PluginCall{
		Id: l.id(e), StartedAt: timestamppb.New(e.began), Direction: e.direction, Plugin: e.plugin, Method: e.method,
		Build: e.build, DeploymentId: e.deployment, StageId: e.stageID, StageName: e.stageName, Code: e.code,
		Detail: l.shown(e.detail), RequestBytes: int64(e.request.size), ResponseBytes: int64(e.response.size),
		Failed: e.failed, Streamed: e.streamed, Rerun: e.rerun,
	}
	if !e.running {
		call.Duration = durationpb.New(max(e.took, time.Microsecond))
	}
	if messages {
		call.Request, call.RequestJson, call.RequestClipped = l.render(e.request)
		call.Response, call.ResponseJson, call.ResponseClipped = l.render(e.response)
	}
	return call
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/config"
)

// pluginReports remembers the plugins of applications, by directory, in the plane's order of calls.
type pluginReports struct {
	plane  *controlPlane
	got    map[string][]string
	manual map[string]bool // those that only users deploy
	calls  int
	// registered is the number of applications reported before the first call.
	registered int
}

func (r *pluginReports) ReportApplicationPlugins(
	_ context.Context, request *agentv1.ReportApplicationPluginsRequest, _ ...grpc.CallOption,
) (*agentv1.ReportApplicationPluginsResponse, error) {
	r.plane.mu.Lock()
	defer r.plane.mu.Unlock()
	defer r.plane.broadcast()
	if r.calls++; r.calls == 1 {
		r.registered = len(r.plane.applications)
	}
	for _, a := range request.GetApplications() {
		r.got[a.GetPath()] = a.GetPlugins()
		if r.manual != nil {
			r.manual[a.GetPath()] = a.GetManual()
		}
	}
	return &agentv1.ReportApplicationPluginsResponse{}, nil
}

func TestPluginsOfApplicationsAreReportedBeforeTheyAreRegistered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reports := &pluginReports{plane: w.plane, got: map[string][]string{}}
	w.reporter = reports
	var settled atomic.Bool
	w.uses = func(a *config.Application) ([]string, bool) {
		return slices.Sorted(maps.Keys(a.Plugins)), settled.Load() || a.Pipeline == nil
	}
	w.application("web", "  name: web\n  plugins:\n    kubernetes: {}\n")
	w.application("waits", "  name: waits\n  plugins:\n    wait: {}\n  pipeline:\n    stages:\n      - name: WAIT\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(2)
	w.plane.read(func() {
		require.Equal(
			t, map[string][]string{"web": {"kubernetes"}}, reports.got,
			"the other's stage may belong to any plugin that starts",
		)
		require.Zero(t, reports.registered)
	})

	settled.Store(true)
	w.trigger.PluginsSettled()
	w.plane.await(t, "the plugins of all applications", func() bool { return len(reports.got) == 2 })
	w.application("web", "  name: web\n  plugins:\n    wait: {}\n")
	w.commit("Change")
	w.awaitDeployment(3)
	w.plane.read(func() {
		require.Equal(t, map[string][]string{"web": {"wait"}, "waits": {"wait"}}, reports.got)
		require.Equal(t, 3, reports.calls, "only changes are reported")
	})
}

func TestApplicationsThatOnlyUsersDeployAreReportedAsSuch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reports := &pluginReports{plane: w.plane, got: map[string][]string{}, manual: map[string]bool{}}
	w.reporter = reports
	w.uses = func(*config.Application) ([]string, bool) { return nil, true }
	byUsers := "  name: %s\n  trigger: {onCommit: {disabled: true}%s}\n"
	w.application("web", "  name: web\n")
	w.application("tool", fmt.Sprintf(byUsers, "tool", ""))
	w.application("member", fmt.Sprintf(byUsers, "member", ", onChain: {disabled: false}"))
	w.commit("Add")
	w.start()
	w.plane.await(t, "all reports", func() bool { return len(reports.manual) == 3 })
	w.plane.read(func() {
		require.Equal(t, map[string]bool{"web": false, "tool": true, "member": true}, reports.manual)
	})
	w.application("web", "  name: web\n  postSync: {chain: {applications: [{name: member}]}}\n")
	w.commit("Deploy the member after web")
	w.plane.await(t, "the member, which a chain deploys now", func() bool { return !reports.manual["member"] })
	w.plane.read(func() { require.Equal(t, 2, reports.calls, "only changes are reported") })
}

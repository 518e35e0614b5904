// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/controlplane/spool"
)

func TestReportsThatDoNotGetThroughAreAProblem(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		connected bool
		spool     spool.Stats
		want      string
	}{
		"nothing waits": {true, spool.Stats{}, ""},
		"on their way":  {true, spool.Stats{Reports: 2, Oldest: now.Add(-deliveryTime)}, ""},
		"too long on their way": {true, spool.Stats{Reports: 2, Oldest: now.Add(-deliveryTime - time.Second)},
			"2 reports do not get through to the control plane since 2026-01-02T03:03:54Z"},
		"one too long on its way": {true, spool.Stats{Reports: 1, Oldest: now.Add(-deliveryTime - time.Second)},
			"1 report does not get through to the control plane since 2026-01-02T03:03:54Z"},
		"no connection": {false, spool.Stats{Reports: 2, Oldest: now.Add(-time.Hour)}, ""},
		"no connection and no room": {false, spool.Stats{Reports: 9, Oldest: now, Full: true},
			"deployments wait: there is no room for more reports to the control plane, 9 wait since " +
				"2026-01-02T03:04:05Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problems := spoolProblems(c.spool, c.connected, now)
			if c.want == "" {
				require.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1)
			require.Equal(t, c.want, problems[0].Reason)
			require.NotEmpty(t, problems[0].NextStep)
		})
	}
}

func TestPipedIsReadyWhenAllPartsAre(t *testing.T) {
	t.Parallel()
	ready := func() *readiness {
		r := &readiness{
			address: "plane:1", connected: func() bool { return true },
			spool:  func() spool.Stats { return spool.Stats{} },
			traces: func() string { return "off" }, problems: newProblems(),
			plugins: func() []*agentv1.Plugin {
				return []*agentv1.Plugin{{Name: "wait", State: agentv1.Plugin_STATE_RUNNING, Detail: "secret"}}
			},
			mask: func(text string) string { return strings.ReplaceAll(text, "secret", "***") },
		}
		r.accepted.Store(true)
		return r
	}
	require.True(t, ready().ok())
	require.Equal(t, []pluginHealth{{Name: "wait", State: "running", Detail: "***"}},
		ready().answer().Components.Plugins)
	for want, spoil := range map[string]func(*readiness){
		"not connected to the control plane at plane:1": func(r *readiness) {
			r.connected = func() bool { return false }
		},
		"not connected to the control plane at plane:1 ": func(r *readiness) { r.accepted.Store(false) },
		"trigger: not everything could be triggered or reported: ***": func(r *readiness) {
			r.problems.passed(errors.New("secret"))
		},
		"plugin wait is being started": func(r *readiness) {
			r.plugins = func() []*agentv1.Plugin {
				return []*agentv1.Plugin{{Name: "wait", State: agentv1.Plugin_STATE_STARTING}}
			}
		},
	} {
		r := ready()
		spoil(r)
		require.False(t, r.ok())
		require.Equal(t, []string{strings.TrimSpace(want)}, r.answer().Reasons)
	}
}

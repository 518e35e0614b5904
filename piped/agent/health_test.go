// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/controlplane/spool"
)

func TestReportsThatDoNotGetThroughAreAProblem(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	up := controlPlaneHealth{Address: "a:1", Connected: true, Accepted: true}
	for name, c := range map[string]struct {
		plane controlPlaneHealth
		spool spool.Stats
		want  []string
	}{
		"nothing waits":             {up, spool.Stats{}, nil},
		"on their way":              {up, spool.Stats{Reports: 2, Oldest: now.Add(-deliveryTime)}, nil},
		"too long on their way":     {up, spool.Stats{Reports: 2, Oldest: now.Add(-deliveryTime - time.Second)}, []string{"2 reports do not get through to the control plane since 2026-01-02T03:03:54Z"}},
		"no connection":             {controlPlaneHealth{Address: "a:1", Accepted: true}, spool.Stats{Reports: 2, Oldest: now.Add(-time.Hour)}, []string{"not connected to the control plane at a:1"}},
		"not yet accepted":          {controlPlaneHealth{Address: "a:1", Connected: true}, spool.Stats{}, []string{"not connected to the control plane at a:1"}},
		"no connection and no room": {controlPlaneHealth{Address: "a:1"}, spool.Stats{Reports: 9, Oldest: now, Full: true}, []string{"not connected to the control plane at a:1", "deployments wait: there is no room for more reports to the control plane, 9 wait since 2026-01-02T03:04:05Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, reachProblems(components{ControlPlane: c.plane, Spool: spoolOf(c.spool)}, now))
		})
	}
}

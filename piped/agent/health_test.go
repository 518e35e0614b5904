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
	for name, c := range map[string]struct {
		connected bool
		spool     spool.Stats
		want      string
	}{
		"nothing waits": {true, spool.Stats{}, ""},
		"on their way":  {true, spool.Stats{Reports: 2, Oldest: now.Add(-deliveryTime)}, ""},
		"too long on their way": {true, spool.Stats{Reports: 2, Oldest: now.Add(-deliveryTime - time.Second)},
			"2 reports do not get through to the control plane since 2026-01-02T03:03:54Z"},
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

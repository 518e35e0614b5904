// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

func TestPlanPreviewsAreCounted(t *testing.T) {
	t.Parallel()
	m := newMetrics()
	for range 3 {
		m.PlanPreviewReceived()
	}
	m.PlanPreviewHandled(model.CommandStatus_COMMAND_SUCCEEDED, 2*time.Second)
	m.PlanPreviewHandled(model.CommandStatus_COMMAND_SUCCEEDED, 4*time.Second)
	m.PlanPreviewHandled(model.CommandStatus_COMMAND_FAILED, time.Second)
	text := scrape(t, m)
	require.Equal(t, "3", value(text, "plan_preview_command_received_total", ""))
	require.Equal(t, "2", value(text, "plan_preview_command_handled_total", `status="COMMAND_SUCCEEDED"`))
	require.Equal(t, "1", value(text, "plan_preview_command_handled_total", `status="COMMAND_FAILED"`))
	require.Equal(t, "6", value(text, "plan_preview_command_handling_seconds_sum", `status="COMMAND_SUCCEEDED"`))
	require.Equal(t, "none", value(text, "plan_preview_command_handled_total", `status="COMMAND_TIMEOUT"`))
}

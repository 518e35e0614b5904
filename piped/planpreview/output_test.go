// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planpreview

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

func TestChangesAsDataGoFirstWhenAnAnswerIsTooLong(t *testing.T) {
	t.Parallel()
	long := json.RawMessage(`"` + strings.Repeat("x", maxOutput) + `"`)
	result := &model.PlanPreviewCommandResult{CommandId: "c", Results: []*model.ApplicationPlanPreviewResult{
		{PluginPlanResults: []*model.PluginPlanPreviewResult{{PlanDetails: []byte("details")}}}}}
	output, err := encode(&answer{result, []planned{{Changes: long}}})
	require.NoError(t, err)
	var with answer
	require.NoError(t, json.Unmarshal(output, &with))
	require.Empty(t, with.Changes)
	require.Equal(t, "details", string(with.GetResults()[0].GetPluginPlanResults()[0].GetPlanDetails()))
}

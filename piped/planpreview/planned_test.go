// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planpreview_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChangesAsDataAreMaskedAndDoNotDisturbPipeCD(t *testing.T) {
	t.Parallel()
	w := newWorld(t, worldOptions{
		preview: "changes",
		mask:    func(text string) string { return strings.ReplaceAll(text, "hunter2", "******") },
	})
	deployed := w.commit(map[string]string{"a/app.pipecd.yaml": appConfig("a", quickOnly), "a/value": "1"})
	w.register("a", deployed)
	w.git("checkout", "-q", "-b", "feature")
	head := w.commit(map[string]string{"a/value": "password hunter2"})
	one := w.preview(command("1", head)).GetResults()[0].GetPluginPlanResults()[0]
	require.Equal(t, "1 value changes", string(one.GetPlanSummary()), "PipeCD reads what it has always read")

	var with struct {
		Changes []struct{ Changes json.RawMessage } `json:"pipedeck_changes"`
	}
	require.NoError(t, json.Unmarshal(w.plane.handled["1"].GetOutput(), &with))
	require.Len(t, with.Changes, 1)
	require.JSONEq(t, `{"was": "1", "is": "password ******"}`, string(with.Changes[0].Changes))
}

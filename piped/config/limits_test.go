// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMemoryIsReadWithUnits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]uint64{"": 0, "512Mi": 512 << 20, "1.5Gi": 3 << 29, "100M": 100_000_000,
		"33554432": 32 << 20} {
		got, err := PluginLimits{Memory: text}.MemoryBytes()
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"1Mi", "-1Gi", "much", "Mi", "NaN", "1e300Gi", "5mi"} {
		_, err := PluginLimits{Memory: text}.MemoryBytes()
		require.ErrorContains(t, err, "want at least 16Mi", text)
	}
}

func TestLimitsOfPluginsAreChecked(t *testing.T) {
	t.Parallel()
	_, err := ParsePiped(
		[]byte(`{"apiVersion":"pipecd.dev/v1beta1","kind":"Piped","spec":{"projectID":"p","pipedID":"i",`+
			`"pipedKeyData":"a2V5","apiAddress":"localhost:1",
"plugins":[{"name":"a","url":"file:///a","limits":{"memory":"1Mi","cpu":-1,"pids":3}}]}}`), "piped.yaml")
	for _, want := range []string{"limits.memory", "limits.cpu", "limits.pids"} {
		require.ErrorContains(t, err, want)
	}
}

func TestAStageIsGivenToOnePlugin(t *testing.T) {
	t.Parallel()
	_, err := ParsePiped(
		[]byte(`{"apiVersion":"pipecd.dev/v1beta1","kind":"Piped","spec":{"projectID":"p","pipedID":"i",`+
			`"pipedKeyData":"a2V5","apiAddress":"localhost:1",
"plugins":[{"name":"a","url":"file:///a","stages":["WAIT"]},{"name":"b","url":"file:///b","stages":["OTHER",`+
			`"WAIT"]}]}}`), "piped.yaml")
	require.ErrorContains(t, err, `"WAIT" is used already by spec.plugins[0].stages[0]`)
}

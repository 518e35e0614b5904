// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func TestPrometheusReadsTheMetricsOfAnEnvironment(t *testing.T) {
	t.Parallel()
	server, err := New(Config{ProjectID: "p", PipedID: "piped", PipedName: "piped", PipedKey: "k",
		APIKey: "id.secret"})
	require.NoError(t, err)
	server.SetProblem(store.Problem{Part: `a "quoted" part`, Component: "disk", Reason: "full",
		NextStep: "make room"})
	answer := httptest.NewRecorder()
	server.Metrics().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	require.NoError(t, err)
	require.EqualValues(t, 0, families["pipedeck_healthy"].GetMetric()[0].GetGauge().GetValue())
	problems := families["pipedeck_degraded"].GetMetric()
	require.Len(t, problems, 1)
	labels := labelsOf(problems[0].GetLabel())
	require.Equal(t, "disk", labels["component"])
	require.Equal(t, `a "quoted" part`, labels["part"])
	require.NotEmpty(t, labels["id"])
	for _, name := range []string{"go_info", "go_goroutines", "go_memstats_alloc_bytes", "go_memstats_sys_bytes",
		"process_resident_memory_bytes", "process_start_time_seconds"} {
		require.Positive(t, families[name].GetMetric()[0].GetGauge().GetValue(), name)
	}
	require.Contains(t, families, "process_open_fds")
	require.GreaterOrEqual(t, families["process_cpu_seconds_total"].GetMetric()[0].GetCounter().GetValue(), 0.0)
}

func TestLabelsOfMetricsMayHoldAnyText(t *testing.T) {
	t.Parallel()
	text := &exposition{}
	text.begin("said", "gauge", "A text.")
	text.sample("said", 1.5, "by", `a "quoted" \ text`, "of", "two\nlines and \xff")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text.String()))
	require.NoError(t, err)
	said := families["said"].GetMetric()
	require.Len(t, said, 1)
	require.EqualValues(t, 1.5, said[0].GetGauge().GetValue())
	require.Equal(t, map[string]string{"by": `a "quoted" \ text`, "of": "two\nlines and \uFFFD"},
		labelsOf(said[0].GetLabel()))
}

func labelsOf[L interface {
	GetName() string
	GetValue() string
}](pairs []L) map[string]string {
	labels := map[string]string{}
	for _, label := range pairs {
		labels[label.GetName()] = label.GetValue()
	}
	return labels
}

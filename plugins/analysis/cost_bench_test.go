// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

const (
	// metricsAtOnce and costDuration are what is measured, costLimit what it may cost, in percent of a core.
	metricsAtOnce = 100
	costDuration  = time.Minute
	costLimit     = 5.0
)

// The server runs in this process and the plugin in its own, so that the processes that have ended are the plugin.
func TestTheCostOfAHundredMetrics(t *testing.T) {
	bin := os.Getenv("PIPEDECK_BIN")
	require.NotEmpty(t, bin, "needs the built plugins: make bench-platforms")
	s := newServer(t, func(one asked) []float64 { return spread(100)[:int(one.end.Sub(one.start)/one.step)+1] })
	var metrics []map[string]any
	for i := range metricsAtOnce {
		m := map[string]any{"provider": "prom", "interval": "5s", "step": "1s"}
		if i%2 == 0 {
			m["query"] = fmt.Sprintf(`sum(rate(http_requests_total{i="%d"}[1m]))`, i)
			m["expected"] = map[string]any{"max": 1000}
		} else {
			m["query"] = fmt.Sprintf(`sum(rate(http_requests_total{v="{{ .Variant.Name }}",i="%d"}[1m]))`, i)
			m["strategy"] = "CANARY_PRIMARY"
		}
		metrics = append(metrics, m)
	}
	options, err := json.Marshal(map[string]any{"duration": costDuration.String(), "metrics": metrics})
	require.NoError(t, err)

	before := ended(t)
	began := time.Now()
	t.Run("analysis", func(t *testing.T) {
		h := wiretest.StartProgram(t, filepath.Join(bin, "plugins", "analysis"),
			wiretest.Options{Name: "analysis", Config: configured(s.URL)})
		status := h.Execute(t, stageAnalysis, string(options))
		require.Equal(t, model.StageStatus_STAGE_SUCCESS, status, h.Piped.Log("analysis"))
	})
	cost := 100 * (ended(t) - before).Seconds() / time.Since(began).Seconds()
	queries := len(s.queries())
	require.GreaterOrEqual(t, queries, metricsAtOnce*3/2*int(costDuration/(5*time.Second)), "two for each comparison")
	t.Logf("%d metrics every 5s, %d queries in %s: %.1f %% of a core, start and end of the plugin included; limit %.0f",
		metricsAtOnce, queries, costDuration, cost, costLimit)
	require.LessOrEqual(t, cost, costLimit)
}

// ended is the CPU time of the processes of this one that have ended.
func ended(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

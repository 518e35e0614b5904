// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// programsVariable names the directory with prometheus and promtool.
const programsVariable = "PIPEDECK_PROMETHEUS"

// realPrometheus starts one that holds, for the last two hours, the metric errors of three variants: 0.01, with some
// noise, which becomes 0.2 for canary half an hour ago. It returns its address.
func realPrometheus(t *testing.T) string {
	t.Helper()
	programs := os.Getenv(programsVariable)
	if programs == "" {
		t.Skip("needs Prometheus: make e2e-platforms, or set " + programsVariable)
	}
	dir := t.TempDir()
	var metrics bytes.Buffer
	metrics.WriteString("# TYPE errors gauge\n")
	now := time.Now().Unix() / 15 * 15
	for variant, level := range map[string]float64{"canary": 0.2, "baseline": 0.01, "primary": 0.0101} {
		for at := now - 7200; at <= now+600; at += 15 {
			value := level
			if variant == "canary" && at < now-1800 {
				value = 0.01
			}
			fmt.Fprintf(&metrics, "errors{variant=%q} %g %d\n", variant, value+0.001*float64(at/15%7), at)
		}
	}
	metrics.WriteString("# EOF\n")
	input := filepath.Join(dir, "metrics")
	require.NoError(t, os.WriteFile(input, metrics.Bytes(), 0o600))
	blocks := exec.Command(filepath.Join(programs, "promtool"), "tsdb", "create-blocks-from", "openmetrics", input,
		filepath.Join(dir, "data"))
	output, err := blocks.CombinedOutput()
	require.NoError(t, err, string(output))
	settings := filepath.Join(dir, "prometheus.yml")
	require.NoError(t, os.WriteFile(settings, []byte("global: {scrape_interval: 15s}\n"), 0o600))

	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := free.Addr().String()
	require.NoError(t, free.Close())
	ctx, cancel := context.WithCancel(context.Background())
	server := exec.CommandContext(ctx, filepath.Join(programs, "prometheus"), "--config.file", settings,
		"--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", address)
	var log bytes.Buffer
	server.Stderr = &log
	require.NoError(t, server.Start())
	t.Cleanup(func() { cancel(); _ = server.Wait() })
	require.Eventually(t, func() bool {
		resp, err := http.Get("http://" + address + "/-/ready")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}, time.Minute, 20*time.Millisecond, "Prometheus answers")
	return "http://" + address
}

func TestEachStrategyPassesAndFailsWithARealPrometheus(t *testing.T) {
	t.Parallel()
	address := realPrometheus(t)
	const query = `"query":"errors{variant=\"{{ .Variant.Name }}\"}","interval":"5m"`
	for name, c := range map[string]struct {
		metric string
		good   bool
		log    string
	}{
		"within the limits": {`"query":"errors{variant=\"primary\"}","interval":"5m","expected":{"max":0.05}`, true,
			"6 samples"},
		"beyond the limits": {`"query":"errors{variant=\"canary\"}","interval":"5m","expected":{"max":0.05}`, false,
			"too high"},
		"not lower than primary": {`"strategy":"CANARY_PRIMARY","deviation":"LOW",` + query, true,
			"significantly lower"},
		"worse than primary":  {`"strategy":"CANARY_PRIMARY","deviation":"HIGH",` + query, false, "is higher (p = "},
		"worse than baseline": {`"strategy":"CANARY_BASELINE",` + query, false, "canary is different (p = "},
		"not lower": {`"strategy":"CANARY_BASELINE","deviation":"LOW",` + query, true,
			"significantly lower"},
		"as an hour ago": {`"strategy":"PREVIOUS","query":"errors{variant=\"primary\"}","interval":"5m"`, true,
			"not significantly different"},
		"worse than an hour ago": {`"strategy":"PREVIOUS","query":"errors{variant=\"canary\"}","interval":"5m"`, false,
			"now is different (p = "},
		"a rate of nothing": {`"query":"0*errors/0","interval":"5m","expected":{"max":1},"skipOnNoData":true`, true,
			"no data: all 18 samples are NaN"},
		"a rate of nothing of canary": {`"strategy":"CANARY_PRIMARY","skipOnNoData":true,` + nanOf("canary"), true,
			"canary: all 11 samples are NaN"},
		"a rate of nothing of primary": {`"strategy":"CANARY_PRIMARY","skipOnNoData":true,` + nanOf("primary"), true,
			"primary: all 11 samples are NaN"},
		"no data":       {`"query":"absent","interval":"5m","expected":{"max":1},"skipOnNoData":true`, true, "no data"},
		"a wrong query": {`"query":"sum(","interval":"5m","expected":{"max":1}`, false, "refused the query: bad_data"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := wiretest.Start(t, sdk.ForStages(&plugin{clock: clock{now: time.Now, after: time.After}}),
				wiretest.Options{Name: "analysis", Config: configured(address)})
			started := fmt.Sprintf(`{"start_time":%d}`, time.Now().Add(-time.Hour).Unix())
			_, err := h.Piped.PutApplicationSharedObject(t.Context(), &pluginservice.PutApplicationSharedObjectRequest{
				ApplicationId: "application-1", PluginName: "analysis", Key: latestKey, Object: []byte(started)})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := h.Go(ctx, t, stageAnalysis, stage("10m", c.metric))
			if !c.good {
				require.Equal(t, model.StageStatus_STAGE_FAILURE, <-ended)
				require.Contains(t, h.Piped.Log("analysis"), c.log)
				return
			}
			h.Piped.WaitLog(t, "analysis", "metrics[0]: ")
			require.NotContains(t, h.Piped.Log("analysis"), "failure 1")
			require.Contains(t, h.Piped.Log("analysis"), c.log)
		})
	}
}

// nanOf is a query with values that are no numbers for one variant.
func nanOf(variant string) string {
	return fmt.Sprintf(`"interval":"5m","query":"errors{variant=\"{{ .Variant.Name }}\"} * `+
		`{{ if eq .Variant.Name \"%s\" }}(0/0){{ else }}1{{ end }}"`, variant)
}

func TestAnAnalysisWithARealPrometheusGoesOnWithItsFailures(t *testing.T) {
	t.Parallel()
	settings := configured(realPrometheus(t))
	begin := func(former *wiretest.Piped) *wiretest.Harness {
		return wiretest.Start(t, sdk.ForStages(&plugin{clock: clock{now: time.Now, after: time.After}}),
			wiretest.Options{Name: "analysis", Config: settings, Piped: former})
	}
	options := stage("1m",
		`"query":"errors{variant=\"canary\"}","interval":"1s","failureLimit":2,"expected":{"max":0.05}`)
	h := begin(nil)
	ctx, kill := context.WithCancel(t.Context())
	ended := h.Go(ctx, t, stageAnalysis, options)
	h.Piped.WaitLog(t, "analysis", "failure 2, failureLimit 2")
	kill()
	<-ended
	again := begin(h.Piped)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, again.Execute(t, stageAnalysis, options))
	require.Contains(t, again.Piped.Log("analysis"), "Going on with the analysis of 1m0s after 1")
	require.Contains(t, again.Piped.Log("analysis"), "metrics[0] has failed 3 times, more than its failureLimit 2")
}

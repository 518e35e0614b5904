// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// newMetrics is a server that speaks Prometheus' query API to who has the password: the first answer is bad, the others
// are good; the metric broken is always bad.
func newMetrics(t *testing.T, password string) (address string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, given, _ := r.BasicAuth(); given != password || r.URL.Path != "/api/v1/query_range" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		value := "0.01"
		if r.FormValue("query") == "broken" || asked.Add(1) == 1 {
			value = "0.9"
		}
		_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix",`+
			`"result":[{"metric":{},"values":[[%s,%q]]}]}}`, r.FormValue("end"), value)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func analysis(name, query string) string {
	return "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: " + name + `
  pipeline:
    stages:
      - name: ANALYSIS
        with:
          duration: 12s
          metrics:
            - {provider: prom, query: ` + query + `, interval: 2s, failureLimit: 1, expected: {max: 0.5}}
`
}

func TestAnAnalysisGoesOnWithItsFailuresAfterItsPluginWasKilled(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	const password = "correct-horse-battery"
	address, asked := newMetrics(t, password)
	repository := newRepository(t, map[string]string{
		"shop/app.pipecd.yaml":   analysis("shop", "rate"),
		"broken/app.pipecd.yaml": analysis("broken", "broken"),
	})
	dir := filepath.Dir(repository)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte(password), 0o600))
	file := pipedYAML(t, dir, `  plugins:
    - name: analysis
      config:
        analysisProviders:
          - {name: prom, type: PROMETHEUS, config: {address: "`+address+`", usernameFile: secret, passwordFile: secret}}
`)
	s := e.start("up", repository, "--cluster", "none", "--piped-config", file)
	says := func(parts ...string) func(event) bool {
		return func(e event) bool {
			text, _ := e["text"].(string)
			missing := func(part string) bool { return !strings.Contains(text, part) }
			return e.is("log") && !slices.ContainsFunc(parts, missing)
		}
	}
	s.await("the first evaluation fails", says("0.9 is too high; failure 1, failureLimit 1", "query: rate"))
	s.await("the second one is good", says("metrics[0]: good: 0.01"))
	plugin := e.pluginPID("analysis")
	// What was evaluated is noted a second later, long before the end of the analysis.
	waitUntil(t, "the note", func() bool { return asked.Load() >= 3 })
	require.NoError(t, syscall.Kill(plugin, syscall.SIGKILL))
	s.await("the analysis goes on", says("Going on with the analysis of 12s after "))
	s.await("shop is deployed", deployed("shop", "SUCCESS"))
	s.await("the failure before the kill counts", says("The analysis succeeded: 1 of "))
	s.await("broken is not", deployed("broken", "FAILURE"))
	s.await("a chart", says("X bad"))

	logs, err := filepath.Glob(e.Dir("logs", "*.log"))
	require.NoError(t, err)
	require.NotEmpty(t, logs)
	for _, log := range logs {
		content, err := os.ReadFile(log)
		require.NoError(t, err)
		require.NotContains(t, string(content), password, log)
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/analysis/config"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// entryServer is a Google Cloud Logging with a number of entries for each query, and Google's token server. The newest
// filter is in asked.
func entryServer(t *testing.T, count func() int) (keyFile string, asked *atomic.Value) {
	t.Helper()
	asked = &atomic.Value{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			_, _ = w.Write([]byte(`{"access_token":"hidden","token_type":"Bearer","expires_in":3600}`))
			return
		}
		var body struct{ Filter string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		asked.Store(body.Filter)
		n := count()
		if n < 0 {
			http.Error(w, `{"error":{"code":403,"message":"no access","status":"PERMISSION_DENIED"}}`,
				http.StatusForbidden)
			return
		}
		_, _ = fmt.Fprintf(w, `{"entries":[%s]}`, strings.TrimSuffix(
			strings.Repeat(`{"timestamp":"2027-01-15T08:00:00Z"},`, n), ","))
	}))
	t.Cleanup(s.Close)
	t.Setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING", s.URL)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	data, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "shop", "client_email": "a@b", "token_uri": s.URL + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})),
	})
	require.NoError(t, err)
	keyFile = filepath.Join(t.TempDir(), "key.json")
	require.NoError(t, os.WriteFile(keyFile, data, 0o600))
	return keyFile, asked
}

func startLogs(t *testing.T, c *manualClock, keyFile string) *wiretest.Harness {
	t.Helper()
	settings, err := json.Marshal(config.StackdriverConfig{ServiceAccountFile: keyFile})
	require.NoError(t, err)
	return wiretest.Start(t, sdk.ForStages(&plugin{clock: c.clock()}), wiretest.Options{Name: "analysis",
		Config: config.Config{AnalysisProviders: []config.Provider{
			{Name: "gcp", Type: config.Stackdriver, Config: settings},
			{Name: "prom", Type: config.Prometheus, Config: json.RawMessage(`{"address":"http://127.0.0.1:1"}`)},
		}}})
}

func TestLogsHaveTheirNumberOfEntries(t *testing.T) {
	var found atomic.Int64
	keyFile, asked := entryServer(t, func() int { return int(found.Load()) })
	for name, each := range map[string]struct {
		found int64
		keys  string
		good  bool
		log   string
	}{
		"no entry":           {0, ``, true, "logs[0]: good: no entries, expected none; query: app=demo"},
		"an entry":           {1, ``, false, "1 entry, the newest at 2027-01-15T08:00:00Z, expected none: that is too"},
		"as many as allowed": {3, `,"expected":{"max":3}`, true, "3 entries, the newest at"},
		"more than allowed":  {4, `,"expected":{"max":3}`, false, "expected at most 3: that is too many; failure 1"},
		"as many as needed":  {2, `,"expected":{"min":2}`, true, "expected at least 2"},
		"fewer than needed":  {1, `,"expected":{"min":2,"max":9}`, false, "expected 2 to 9: that is too few"},
		"none of those that are needed": {0, `,"expected":{"min":1}`, false,
			"no data: no entries, expected at least 1; failure 1"},
		"none of those that are needed, skipped": {0, `,"expected":{"min":1},"skipOnNoData":true`, true,
			"not a failure: skipOnNoData is set"},
		"a query that fails": {-1, `,"skipOnNoData":true`, false,
			"query failed: http://"},
	} {
		t.Run(name, func(t *testing.T) {
			found.Store(each.found)
			c := newManualClock()
			h := startLogs(t, c, keyFile)
			want := model.StageStatus_STAGE_FAILURE
			if each.good {
				want = model.StageStatus_STAGE_SUCCESS
			}
			require.Equal(t, want, finish(c, h.Go(t.Context(), t, stageAnalysis,
				`{"duration":"1m","logs":[{"provider":"gcp","query":"app={{ .App.Name }}","interval":"50s"`+
					each.keys+`}]}`)))
			require.Contains(t, h.Piped.Log("analysis"), each.log)
			require.NotContains(t, h.Piped.Log("analysis"), "hidden")
			require.Contains(t, asked.Load(), "(\napp=")
		})
	}
}

func TestTheFirstQueryOfALogAsksAboutTheIntervalBeforeIt(t *testing.T) {
	keyFile, asked := entryServer(t, func() int { return 0 })
	c := newManualClock()
	h := startLogs(t, c, keyFile)
	ended := h.Go(t.Context(), t, stageAnalysis,
		`{"duration":"10m","logs":[{"provider":"gcp","query":"a","interval":"9m"}]}`)
	h.Piped.WaitLog(t, "analysis", "no entries, expected none")
	require.Equal(t, fmt.Sprintf("(\na\n)\nAND timestamp >= %q AND timestamp < %q",
		begin.Add(-9*time.Minute).UTC().Format(time.RFC3339), begin.UTC().Format(time.RFC3339)), asked.Load())
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, finish(c, ended))
}

func TestLogsThatCannotBeAskedAreRefusedAtPlanning(t *testing.T) {
	t.Parallel()
	h := startLogs(t, newManualClock(), "/absent")
	for with, want := range map[string]string{
		`{"duration":"5m","logs":[{"provider":"prom","query":"q","interval":"1m"}]}`: "logs[0]: the provider prom " +
			"has the type PROMETHEUS, which has no logs: want STACKDRIVER",
		`{"duration":"5m","logs":[{"provider":"absent","query":"q","interval":"1m"}]}`: "logs[0]: the provider " +
			"absent is not among the analysisProviders of the piped configuration: gcp, prom",
		`{"duration":"5m","logs":[{"provider":"gcp","query":"q","interval":"1m","expected":{"min":2,"max":1}}]}`: "" +
			"logs[0]: expected.min 2 is more than expected.max 1",
		`{"duration":"5m","logs":[{"provider":"gcp","query":"q","interval":"5m"}]}`: "has to be shorter",
	} {
		_, err := plan(t, h, with)
		require.ErrorContains(t, err, want)
	}
	_, err := plan(t, h, `{"duration":"5m","logs":[{"provider":"gcp","query":"q","interval":"1m"}]}`)
	require.NoError(t, err)
}

func TestACloudThatHasTooFewSamplesIsRefusedAtPlanning(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, sdk.ForStages(&plugin{clock: newManualClock().clock()}), wiretest.Options{Name: "analysis",
		Config: config.Config{AnalysisProviders: []config.Provider{
			{Name: "cw", Type: config.CloudWatch, Config: json.RawMessage(`{"region":"eu-west-1"}`)},
		}}})
	metric := func(keys string) string {
		return `{"duration":"9m","metrics":[{"provider":"cw","query":"q","strategy":"CANARY_PRIMARY",` + keys + `}]}`
	}
	_, err := plan(t, h, metric(`"interval":"3m"`))
	require.ErrorContains(t, err, "metrics[0]: CloudWatch gives 3 samples a side in interval 3m0s, with which no "+
		"difference can be significant: want 4 or more")
	for _, keys := range []string{`"interval":"4m"`, `"interval":"1m","step":"10s"`} {
		_, err := plan(t, h, metric(keys))
		require.NoError(t, err)
	}
}

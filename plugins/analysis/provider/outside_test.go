// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
)

// answering is a server with one answer.
func answering(t *testing.T, answer string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(s.Close)
	return s
}

func TestSamplesOfAnotherTimeDoNotCount(t *testing.T) {
	t.Parallel()
	from, to := lastHour.From.Unix(), lastHour.To.Unix()
	matrix := fmt.Sprintf(`{"status":"success","data":{"resultType":"matrix","result":[{"values":[[%d,"1"],[%d,"2"],
		[%d,"3"],[%d,"4"],[%d,"NaN"]]}]}}`, from-24*3600, from-90, to, to+91, from-91)
	// The point of Datadog before the range stands for the 5 minutes after it.
	points := fmt.Sprintf(`{"status":"ok","series":[{"interval":300,"pointlist":[[%d000,1],[%d000,2],[%d000,3],
		[%d000,4],[%d000,5]]}]}`, from-24*3600, from-300, to, to+301, from-301)
	for name, metrics := range map[string]Metrics{
		"Prometheus": prometheusAt(t, config.PrometheusConfig{Address: answering(t, matrix).URL}),
		"Datadog": datadogAt(t, config.DatadogConfig{Address: answering(t, points).URL, APIKeyData: "b25l",
			ApplicationKeyData: "dHdv"}),
	} {
		answer, err := metrics.Query(t.Context(), "q", lastHour)
		require.NoError(t, err, name)
		require.Equal(t, []float64{2, 3}, answer.Values(), name)
		require.Equal(t, 3, answer.Outside, name)
		require.Zero(t, answer.NotNumbers, name)
	}
}

func TestTheSamplesOfEachSeriesAreKnownOfAServiceThatRepeatsThem(t *testing.T) {
	t.Parallel()
	answer, err := prometheusAt(t, config.PrometheusConfig{Address: answering(t, matrix).URL}).
		Query(t.Context(), "q", lastHour)
	require.NoError(t, err)
	require.Equal(t, [][]float64{answer.Values()[:1], answer.Values()[1:]}, answer.Held())
	require.Empty(t, (&Answer{Points: answer.Points}).Held())
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

func TestTheStepBetweenSamples(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		strategy       string
		interval, step time.Duration
		want           time.Duration
		samples        int
	}{
		"limits, a long interval (PipeCD v1)":  {Threshold, time.Hour, 0, time.Minute, 61},
		"limits, a short interval (PipeCD v1)": {"", 10 * time.Second, 0, 10 * time.Second, 2},
		"two sides, a long interval":           {CanaryPrimary, time.Hour, 0, time.Minute, 61},
		"two sides, a short interval":          {CanaryPrimary, time.Minute, 0, 6 * time.Second, 11},
		"two sides, a very short interval":     {Previous, 3 * time.Second, 0, time.Second, 4},
		"a given one":                          {Previous, time.Minute, 15 * time.Second, 15 * time.Second, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := Metric{Strategy: c.strategy, Interval: sdk.Duration(c.interval), Step: sdk.Duration(c.step)}
			require.Equal(t, c.want, m.SampleStep())
			require.Equal(t, c.samples, m.Samples())
		})
	}
}

func TestProvidersThatCannotBeReachedAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{`[{"type":"PROMETHEUS"}]`, "analysisProviders[0].name is required"},
		{`[{"name":"a","type":"GRAPHITE"}]`, `analysis provider a: type is "GRAPHITE"`},
		{`[{"name":"a","type":"PROMETHEUS"}]`, "config.address is required"},
		{`[{"name":"a","type":"STACKDRIVER"},{"name":"a","type":"STACKDRIVER"}]`, "two providers have the name a"},
		{`[{"name":"a","type":"PROMETHEUS","config":{"address":"user:secret@host"}}]`, "config.address is not a URL"},
		{`[{"name":"a","type":"PROMETHEUS","config":{"address":"http://h","usernameFile":"f"}}]`, "need each other"},
		{`[{"name":"a","type":"PROMETHEUS","config":{"address":"http://h","tls":{"keyFile":"f"}}}]`,
			"need each other"},
		{`[{"name":"a","type":"PROMETHEUS","config":{"address":"http://h","usernameFile":"f","passwordFile":"f",` +
			`"bearerTokenFile":"f"}}]`, "exclude each other"},
		{`[{"name":"a","type":"DATADOG","config":{"apiKeyData":"a"}}]`, "config.applicationKeyFile or"},
		{`[{"name":"a","type":"DATADOG"}]`, "config.apiKeyFile or"},
		{`[{"name":"a","type":"STACKDRIVER","config":{"project":"a/../b"}}]`, `project is "a/../b": want the id`},
		{`[{"name":"a","type":"CLOUDWATCH"}]`, "config.region is required"},
		{`[{"name":"a","type":"CLOUDWATCH","config":{"region":"r","roleARN":"a"}}]`, "need each other"},
	} {
		var given Config
		require.NoError(t, decode([]byte(`{"analysisProviders":`+c[0]+`}`), &given))
		err := given.Validate()
		require.ErrorContains(t, err, c[1], c[0])
		require.NotContains(t, err.Error(), "secret")
	}
	var c Config
	require.NoError(t, decode([]byte(`{"analysisProviders":[{"name":"a","type":"STACKDRIVER"}]}`), &c))
	require.NoError(t, c.Validate())
	require.Nil(t, c.Find("b"))
	require.Equal(t, "a", c.Find("a").Name)
}

func TestHowManyEntriesALogMayHave(t *testing.T) {
	t.Parallel()
	number := func(value float64) *float64 { return &value }
	for name, c := range map[string]struct {
		expected    *Expected
		least, most int
	}{
		"by default none": {nil, 0, 0},
		"nothing given":   {&Expected{}, 0, 0},
		"a max":           {&Expected{Max: number(2.5)}, 0, 2},
		"a min":           {&Expected{Min: number(1.5)}, 2, math.MaxInt32},
		"both":            {&Expected{Min: number(-1), Max: number(1e300)}, 0, math.MaxInt32},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := Log{Expected: c.expected}
			least, most := l.Entries()
			require.Equal(t, [2]int{c.least, c.most}, [2]int{least, most})
		})
	}
}

func TestWhatThereIsToEvaluateInWords(t *testing.T) {
	t.Parallel()
	require.Equal(t, "1 metric, 2 requests", (&Options{
		Metrics: make([]StageMetric, 1), HTTPS: make([]StageHTTP, 2),
	}).Contents())
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
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

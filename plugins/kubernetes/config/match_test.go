// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
)

func TestMatchesAndCopiesAreRead(t *testing.T) {
	t.Parallel()
	const canary, primary, baseline = 1, 0, 2
	for with, want := range map[string]struct {
		text     string
		receives []int
	}{
		`{"canary": 10, "match": [{"header": {"name": "x-canary", "exact": "true"}}]}`: {
			"primary 90%, canary 10%, header x-canary to canary", []int{primary, canary}},
		`{"match": [{"cookie": {"name": "canary", "exact": "always"}}]}`: {
			"primary 100%, cookie canary to canary", []int{primary, canary}},
		`{"all": "baseline", "match": [{"header": {"name": "x", "regex": "a.*"}}]}`: {
			"baseline 100%, header x to canary", []int{canary, baseline}},
		`{"mirror": {}}`: {"primary 100%, 100% copied to canary", []int{primary, canary}},
		`{"all": "primary", "mirror": {"to": "baseline", "percent": "5%"}}`: {
			"primary 100%, 5% copied to baseline", []int{primary, baseline}},
		`{"canary": 1, "sessionAffinity": {"cookie": "web"}}`: {
			"primary 99%, canary 1%, clients kept by cookie web", []int{primary, canary}},
	} {
		traffic, err := config.DecodeTraffic([]byte(with))
		require.NoError(t, err, with)
		require.Equal(t, want.text, traffic.String(), with)
		var receives [3]bool
		for _, i := range want.receives {
			receives[i] = true
		}
		require.Equal(t, receives, traffic.Receives(), with)
	}
	for with, want := range map[string]string{
		`{"match": [{"header": {"name": "x", "exact": "1"}}, {}]}`:           "match[1]: give either header",
		`{"match": [{"header": {"name": "x", "exact": "1"}, "cookie": {}}]}`: "give either header",
		`{"match": [{"cookie": {"name": "x"}}]}`:                             "cookie: give name",
		`{"match": [{"header": {"name": "x", "exact": "a", "regex": "b"}}]}`: "either exact or regex",
		`{"match": [{"header": {"name": "x", "regex": "("}}]}`:               "header.regex: error parsing regexp",
		`{"all": "primary", "mirror": {"to": "primary"}}`:                    `"primary" is not a variant`,
		`{"all": "primary", "mirror": {"percent": 0}}`:                       "percent: must be at least 1",
		`{"all": "primary", "mirror": {"percent": 101}}`:                     "not a percentage",
		`{"match": [{"header": {"name": "bad name", "exact": "1"}}]}`:        `header.name: "bad name" is not a name`,
		`{"match": [{"cookie": {"name": "a b;", "exact": "1"}}]}`:            `cookie.name: "a b;" is not a name`,
		`{"canary": 5, "sessionAffinity": {"cookie": "a b"}}`:                `sessionAffinity.cookie: "a b"`,
		`{"canary": 5, "sessionAffinity": {}}`:                               "with.sessionAffinity: give cookie",
		`{"sessionAffinity": {"cookie": "a"}}`:                               "says nothing",
		`{"canary": 5, "primary": 5, "match": [{"header": {"name": "x"}}]}`:  "add up to 100%",
		`{"match": {"header": {"name": "x", "exact": "1"}}}`:                 "with",
	} {
		_, err := config.DecodeTraffic([]byte(with))
		require.ErrorContains(t, err, "K8S_TRAFFIC_ROUTING: with", with)
		require.ErrorContains(t, err, want, with)
	}
}

// What a provider cannot do is refused when the pipeline is planned, in one line that says what can.
func TestWhatAMethodCannotDoIsRefused(t *testing.T) {
	t.Parallel()
	const (
		header = `"match": [{"header": {"name": "x", "exact": "1"}}]`
		mirror = `"mirror": {}`
		kept   = `"sessionAffinity": {"cookie": "web"}`
	)
	for _, tt := range []struct{ method, with, want string }{
		{"podselector", `{"all": "primary", ` + header + `}`, "with.match: the selector of a Service cannot do that; " +
			"trafficRouting.method: gateway, istio, nginx or traefik can"},
		{"podselector", `{"all": "primary", ` + mirror + `}`, "with.mirror: the selector of a Service cannot"},
		{"podselector", `{"all": "primary", ` + kept + `}`, "with.sessionAffinity: the selector of a Service cannot"},
		{"istio", `{"canary": 10, ` + kept + `}`, "with.sessionAffinity: Istio keeps clients at a pod of one subset"},
		{"istio", `{"canary": 10, ` + header + `, ` + mirror + `}`, ""},
		{"gateway", `{"canary": 10, ` + header + `, ` + mirror + `, ` + kept + `}`, ""},
		{"gateway", `{"all": "primary", "mirror": {"to": "baseline"}}`, "the pipeline has no K8S_BASELINE_ROLLOUT"},
		{"traefik", `{"canary": 10, ` + header + `, ` + mirror + `, ` + kept + `}`, ""},
		{"nginx", `{"canary": 10, ` + header + `}`, ""},
		{"nginx", `{"canary": 10, ` + mirror + `}`, "with.mirror: ingress-nginx cannot copy requests to a variant"},
		{"nginx", `{"canary": 10, ` + kept + `}`, "nginx.ingress.kubernetes.io/affinity: cookie"},
		{"nginx", `{"baseline": 10}`, "with.baseline: ingress-nginx has one canary for an Ingress"},
		{"nginx", `{"match": [{"cookie": {"name": "a", "exact": "yes"}}]}`, "with.match[0]: the cookie of a " +
			"canary of ingress-nginx has the value always"},
		{"nginx", `{"match": [{"cookie": {"name": "a", "exact": "always"}}, {"cookie": {"name": "b", "exact": ` +
			`"always"}}]}`, "with.match[1]: a canary of ingress-nginx has one header and one cookie"},
	} {
		app, err := decode(t, `{"trafficRouting": {"method": "`+tt.method+`"}}`)
		require.NoError(t, err)
		err = app.CheckPipeline([]config.PipelineStage{
			{Name: config.StageCanaryRollout, With: []byte(`{"createService": true}`)},
			{Index: 1, Name: config.StageTrafficRouting, With: []byte(tt.with)},
		})
		if tt.want == "" {
			require.NoError(t, err, tt.method+tt.with)
			continue
		}
		require.ErrorContains(t, err, "stage 2 of the pipeline: K8S_TRAFFIC_ROUTING: ", tt.method+tt.with)
		require.ErrorContains(t, err, tt.want, tt.method+tt.with)
		require.NotContains(t, err.Error(), "\n")
	}
}

func TestOnlyAnIngressAndAnIngressRouteCanBeRoutedBy(t *testing.T) {
	t.Parallel()
	_, err := decode(t, `{"trafficRouting": {"nginx": {"ingress": {"kind": "Service"}}, `+
		`"traefik": {"ingressRoute": {"kind": "Ingress"}}}}`)
	require.ErrorContains(t, err, "nginx.ingress.kind: Ingress is the only kind that can be routed by")
	require.ErrorContains(t, err, "traefik.ingressRoute.kind: IngressRoute is the only kind that can be routed by")
}

func TestTrafficWithoutAVariantGoesToThePrimary(t *testing.T) {
	t.Parallel()
	const with = `{"canary": 30, "baseline": 20, "match": [{"header": {"name": "x", "exact": "1"}}],
		"mirror": {"to": "baseline", "percent": 5}, "sessionAffinity": {"cookie": "c"}}`
	all, err := config.DecodeTraffic([]byte(with))
	require.NoError(t, err)
	alone := all.Without(1)
	require.Equal(t, "primary 80%, baseline 20%, 5% copied to baseline, clients kept by cookie c", alone.String())
	require.NotNil(t, alone.SessionAffinity)
	require.Equal(t, "primary 70%, canary 30%, header x to canary, clients kept by cookie c", all.Without(2).String())
	require.Equal(t, config.Traffic{Primary: 100}, alone.Without(2))
}

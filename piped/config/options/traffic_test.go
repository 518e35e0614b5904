// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config/options"
)

func TestWhatATrafficStageAsksForIsCheckedWithItsPlace(t *testing.T) {
	t.Parallel()
	c := &options.Checker{Catalogue: catalogue(t)}
	gateway := "  plugins: {kubernetes: {trafficRouting: {method: gateway}}}\n"
	gateway = "      - {name: K8S_CANARY_ROLLOUT, with: {createService: true}}\n" + gateway
	for with, want := range map[string]string{
		`{match: [{header: {name: x, exact: "1"}}], mirror: {percent: 5%}}`: "",
		`{mirror: {percent: 0}}`: "7:62: spec.pipeline.stages[0].with.mirror.percent: 0 is not allowed here: want " +
			"at least 1",
		`{all: canary, canary: 10}`: `7:43: spec.pipeline.stages[0].with: a mapping is not allowed here: want either ` +
			`all or canary, not both`,
		`{match: [{headers: {name: x}}]}`: `7:53: spec.pipeline.stages[0].with.match[0].headers: unknown key ` +
			`"headers" is not read; did you mean "header"?`,
		`{match: [{header: {name: x, exact: "1"}, cookie: {name: y, exact: "1"}}]}`: `7:52: ` +
			`spec.pipeline.stages[0].with.match[0]: a mapping is not allowed here: want either header or ` +
			`cookie, not both`,
		`{match: [{header: {name: x}}]}`:               "7:61: spec.pipeline.stages[0].with.match[0].header",
		`{match: [{header: {exact: "1"}}]}`:            "with.match[0].header.name: is required",
		`{match: [{header: {name: x, regex: "("}}]}`:   "7:78: spec.pipeline.stages[0].with.match[0].header.regex",
		`{match: [{header: {name: x y, exact: "1"}}]}`: "7:68: spec.pipeline.stages[0].with.match[0].header.name",
		`{mirror: {to: primary}}`:                      `7:57: spec.pipeline.stages[0].with.mirror.to: "primary"`,
		`{all: primary, sessionAffinity: {}}`:          "with.sessionAffinity.cookie: is required",
	} {
		report := check(c, pipeline("{name: K8S_TRAFFIC_ROUTING, with: "+with+"}")+gateway)
		require.Empty(t, report.Warnings, with)
		if want == "" {
			require.Empty(t, report.Errors, with)
			continue
		}
		require.NotEmpty(t, report.Errors, with)
		require.Contains(t, report.Errors.Error(), want, with)
	}
	for _, tt := range []struct{ method, with, want string }{
		{"podselector", `{all: primary, mirror: {percent: 5}}`, "7:66: spec.pipeline.stages[0].with.mirror: "},
		{"istio", `{canary: 5, sessionAffinity: {cookie: a}}`, "7:72: spec.pipeline.stages[0].with.sessionAffinity: "},
		{"nginx", `{canary: 5, mirror: {percent: 5}}`, "7:63: spec.pipeline.stages[0].with.mirror: "},
		{"gateway", `{mirror: {to: baseline}}`, "want the stage K8S_BASELINE_ROLLOUT with createService: true"},
		{"traefik", `{match: [{header: {name: x, exact: "1"}}]}`, "want the stage K8S_CANARY_ROLLOUT"},
	} {
		report := check(c, pipeline("{name: K8S_TRAFFIC_ROUTING, with: "+tt.with+"}")+
			"  plugins: {kubernetes: {trafficRouting: {method: "+tt.method+"}}}\n")
		require.Empty(t, report.Errors, tt.with)
		require.Contains(t, report.Warnings.Error(), tt.want, tt.with)
	}
}

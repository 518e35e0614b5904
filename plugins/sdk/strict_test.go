// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

type strictCommon struct {
	Region string `json:"region"`
}

type strictOptions struct {
	strictCommon
	Pages []struct {
		Name string        `json:"name"`
		Wait *sdk.Duration `json:"wait"`
	} `json:"pages"`
	Labels map[string]struct {
		Value string `json:"value"`
	} `json:"labels"`
	Any    any    `json:"any"`
	Hidden string `json:"-"`
	Plain  string
}

func TestStrictOptionsNameEachUnknownKeyWithItsPath(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		``:   "",
		`{}`: "",
		`{"region": "n", "Pages": [{"name": "a", "wait": "1s"}], "labels": {"x": {"value": "y"}}, "plain": "p"}`: "",
		`{"any": {"a": [{"b": 1}]}}`: "",
		`{"regoin": "n"}`: "regoin: unknown key; known there: Plain, any, labels, " +
			"pages, region",
		`{"pages": [{"name": "a"}, {"nmae": "b"}]}`: "pages[1].nmae: unknown key; known there: name, wait",
		`{"labels": {"x": {"valeu": "y"}}}`:         "labels.x.valeu: unknown key; known there: value",
		`{"Hidden": "h"}`:                           "Hidden: unknown key",
		`{"pages": 5}`:                              "pages must be a list, not a number",
	} {
		_, err := sdk.DecodeStrict[strictOptions](json.RawMessage(options))
		if want == "" {
			require.NoError(t, err, options)
			continue
		}
		require.ErrorContains(t, err, `the stage's "with" is not valid: `+want, options)
		_, err = sdk.DecodeOptions[strictOptions](json.RawMessage(options))
		require.Equal(t, strings.Contains(want, "must be"), err != nil,
			"DecodeOptions ignores unknown keys: %s", options)
	}
	many := make([]string, 30)
	for i := range many {
		many[i] = fmt.Sprintf(`"key%d": 1`, i)
	}
	_, err := sdk.DecodeStrict[strictOptions](json.RawMessage("{" + strings.Join(many, ",") + "}"))
	require.ErrorContains(t, err, "and 20 more unknown keys")
}

func TestAStrictPluginRefusesUnknownKeysWithTheirLines(t *testing.T) {
	t.Parallel()
	strict := sdk.ForDeployment(newFleet()).WithStrictKeys()
	misspelt := &sdktest.Commit{Hash: "c1", Config: "spec:\n  plugins:\n    fleet:\n      image: v1\n      imgae: v2\n"}
	fine := &sdktest.Commit{Hash: "c2", Config: "spec: {plugins: {fleet: {image: v1}}}"}
	options := sdktest.Options{Name: "fleet", Config: fleetConfig{Region: "north"},
		DeployTargets: fleetOptions().DeployTargets}

	h := sdktest.Start(t, strict, options)
	_, err := h.Versions(t.Context(), sdktest.Change{Target: misspelt})
	require.Equal(t, codes.FailedPrecondition, status.Code(err), "it ends the plan")
	require.ErrorContains(t, err, "app.pipecd.yaml at commit c1: spec.plugins.fleet is not valid: line 5: imgae: "+
		"unknown key; known there: image")
	_, err = h.Versions(t.Context(), sdktest.Change{Running: misspelt, Target: fine})
	require.NoError(t, err, "what runs cannot be corrected any more")

	lenient := sdktest.Start(t, sdk.ForDeployment(newFleet()), options)
	_, err = lenient.Versions(t.Context(), sdktest.Change{Target: misspelt})
	require.NoError(t, err)
}

func TestAStrictPluginDoesNotStartWithUnknownKeys(t *testing.T) {
	t.Parallel()
	start := func(entry string) error {
		settings, err := sdk.ParseSettings(entry)
		require.NoError(t, err)
		return serveBriefly(t, sdk.ForDeployment(newFleet()).WithStrictKeys(), settings)
	}
	const targets = `"deployTargets": [{"name": "one", "config": {"address": "a"}}]`
	require.NoError(t, start(`{"name": "fleet", "config": {"region": "n"}, `+targets+`}`))
	require.ErrorContains(t, start(`{"name": "fleet", "config": {"regoin": "n"}, `+targets+`}`),
		"plugin fleet: config is not valid: regoin: unknown key; known there: region")
	require.ErrorContains(t, start(`{"name": "fleet", "deployTargets": [{"name": "one", "config": {"adress": "a"}}]}`),
		`deploy target "one": config is not valid: adress: unknown key; known there: address`)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
)

func decode(t *testing.T, text string) (*config.Application, error) {
	t.Helper()
	app := &config.Application{}
	require.NoError(t, json.Unmarshal([]byte(text), app))
	return app, app.Validate()
}

func TestAnEmptyConfigurationHasTheDefaults(t *testing.T) {
	t.Parallel()
	app, err := decode(t, `{}`)
	require.NoError(t, err)
	require.Equal(t, config.VariantLabel{Key: "pipecd.dev/variant", PrimaryValue: "primary", CanaryValue: "canary",
		BaselineValue: "baseline"}, app.VariantLabel)
	require.Equal(t, 5*time.Minute, app.Input.RolloutTimeout.Std())
	require.Equal(t, 10*time.Second, app.Input.FailureGrace.Std())
	require.True(t, app.Input.WaitsReady())
}

func TestSettingsThatCannotWorkAreAllReported(t *testing.T) {
	t.Parallel()
	_, err := decode(t,
		`{"input": {"helmChart": {"name": "x"}, "rolloutTimeout": "-1s", "failureGrace": "-1s"}, `+
			`"variantLabel": {"canaryValue": "primary"}}`)
	require.ErrorContains(t, err, "input.helmChart: give path, or repository and name")
	require.ErrorContains(t, err, "rolloutTimeout")
	require.ErrorContains(t, err, "failureGrace")
	require.ErrorContains(t, err, `variantLabel.canaryValue: "primary" is already the primaryValue`)
	app, err := decode(t, `{"input": {"waitReady": false, "helmChart": null}}`)
	require.NoError(t, err)
	require.False(t, app.Input.WaitsReady())
}

func TestReplicasAreANumberOrAShare(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{`1`: 1, `"3"`: 3, `"50%"`: 3, `"10%"`: 1, `"0%"`: 0, `0`: 0,
		`"200%"`: 10} {
		var r config.Replicas
		require.NoError(t, json.Unmarshal([]byte(text), &r), text)
		require.Equal(t, want, r.Of(5), text)
	}
	for _, text := range []string{`"x"`, `-1`, `1.5`, `"-5%"`, `true`, `{}`} {
		require.Error(t, json.Unmarshal([]byte(text), new(config.Replicas)), text)
	}
	require.EqualValues(t, 1, (*config.Replicas)(nil).Of(7), "nothing given is one")
}

func TestStageOptionsAreRead(t *testing.T) {
	t.Parallel()
	app := &config.Application{QuickSync: config.QuickSyncOptions{SyncOptions: config.SyncOptions{Prune: true}}}
	sync, err := config.DecodeSync(nil, app)
	require.NoError(t, err)
	require.True(t, sync.Prune, "a quick sync has the application's options")
	sync, err = config.DecodeSync([]byte(`{}`), app)
	require.NoError(t, err)
	require.False(t, sync.Prune, "a stage has its own")
	primary, err := config.DecodePrimary([]byte(`{}`))
	require.NoError(t, err)
	require.EqualValues(t, "primary", primary.Suffix)
	const deployment = `{"target": {"kind": "Deployment", "name": "a"}`
	for patch, want := range map[string]string{
		`{"ops": [{"path": "$.a"}]}`: "with.patches[0].target: must have kind and name",
		deployment + `}`:             "with.patches[0].ops: is empty",
		deployment + `, "ops": [{"path": "$.a"}, {"op": "regex"}]}`: `with.patches[0].ops[1].op: "regex" is not ` +
			`known; use yaml-replace, json-patch or strategic-merge`,
		deployment + `, "ops": [{"op": "yaml-replace"}]}`: "with.patches[0].ops[0].path: is missing",
		deployment + `, "ops": [{"op": "json-patch", "path": "/a"}]}`: "with.patches[0].ops[0].path: " +
			"json-patch has none",
		deployment + `, "ops": [{"op": "strategic-merge"}]}`:           "with.patches[0].ops[0].value: is missing",
		deployment + `, "ops": [{"op": "json-patch", "value": null}]}`: "with.patches[0].ops[0].value: is missing",
	} {
		_, err = config.DecodeCanary([]byte(`{"patches": [` + patch + `]}`))
		require.ErrorContains(t, err, want)
	}
	canary, err := config.DecodeCanary(
		[]byte(`{"patches": [{"target": {"kind": "Deployment", "name": "a"}, "ops": [{"path": "$.a", ` +
			`"value": "b: 1"}, {"path": "$.a", "value": {"b": 1}}, {"path": "$.a", "value": 7}]}]}`))
	require.NoError(t, err)
	require.Equal(t, []config.PatchOp{{Path: "$.a", Value: "b: 1"}, {Path: "$.a", Value: `{"b": 1}`},
		{Path: "$.a", Value: "7"}}, canary.Patches[0].Ops)
	_, err = config.DecodeCanary([]byte(`{"replicas": "many"}`))
	require.ErrorContains(t, err, "K8S_CANARY_ROLLOUT: with: replicas")
}

func TestUnreadOptionsAreReported(t *testing.T) {
	t.Parallel()
	for with, want := range map[string][]string{
		`K8S_CANARY_ROLLOUT {"replicas": "50%", "Suffix": "x", "createService": true, "patches": [{` +
			`"target": {"kind": "a", "name": "b", "documentRoot": "c"}, ` +
			`"ops": [{"op": "json-patch", "value": {"x": 1}}]}]}`: nil,
		`K8S_CANARY_ROLLOUT {"replica": 1, "patches": [{"ops": [{"patch": 1}]}, 7]}`: {
			"with.patches[0].ops[0].patch is not read: the options here are op, path, value",
			"with.replica is not read: the options here are createService, patches, replicas, suffix",
		},
		`K8S_TRAFFIC_ROUTING {"canary": 5, "green": 5}`: {"with.green is not read: " +
			"the options here are all, baseline, canary, match, mirror, primary, sessionAffinity"},
		`K8S_PRIMARY_ROLLOUT {"multiTargets": ["a"]}`: {"with.multiTargets is not read: " +
			"the options here are addVariantLabelToSelector, createService, prune, suffix"},
		`K8S_MULTI_SYNC {"multiTargets": ["a"], "failurePolicy": {"maxFailed": 1}}`: nil,
		`K8S_CANARY_CLEAN {"prune": true}`: {"with.prune is not read: " +
			"there are no options here"},
		`K8S_BASELINE_ROLLOUT {"suffix": "b"}`: nil,
		`K8S_PRIMARY_ROLLOUT {"suffix": "b", "replicas": 2}`: {"with.replicas is not read: " +
			"the options here are addVariantLabelToSelector, createService, prune, suffix"},
		`K8S_ROLLBACK {"replicas": 2}`:       nil,
		`K8S_MULTI_ROLLBACK {"replicas": 2}`: nil,
		`K8S_SYNC [1]`:                       nil,
	} {
		stage, options, _ := strings.Cut(with, " ")
		require.Equal(t, want, config.Unread(stage, []byte(options)), with)
	}
}

func TestThePipelineOfAConfigurationIsRead(t *testing.T) {
	t.Parallel()
	stages, err := new(config.Application).PipelineStages([]byte("spec:\n  pipeline:\n    stages:\n" +
		"      - name: A\n      - name: B\n        with: {x: [1, y]}\n"))
	require.NoError(t, err)
	require.Equal(t, []config.PipelineStage{{Name: "A"}, {Name: "B", Index: 1, With: []byte(`{"x":[1,"y"]}`)}}, stages)
	stages, err = new(config.Application).PipelineStages([]byte("spec: {}\n"))
	require.NoError(t, err)
	require.Empty(t, stages)
}

func TestAnImageBuilderIsOnThisMachine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`: "",
		`{"imageBuilder": {"address": "127.0.0.1:1", "apiKeyFile": "/key"}}`:     "",
		`{"imageBuilder": {"address": "[::1]:1", "apiKeyFile": "/key"}}`:         "",
		`{"imageBuilder": {"address": "localhost:1", "apiKeyFile": "/key"}}`:     "",
		`{"imageBuilder": {"address": "10.0.0.1:1", "apiKeyFile": "/key"}}`:      "10.0.0.1:1 is not on this machine",
		`{"imageBuilder": {"address": "example.com:443", "apiKeyFile": "/key"}}`: "is not on this machine",
		`{"imageBuilder": {"address": "127.0.0.1", "apiKeyFile": "/key"}}`:       "is not host:port",
		`{"imageBuilder": {"address": "127.0.0.1:1"}}`:                           "imageBuilder.apiKeyFile",
	} {
		target := &config.DeployTarget{}
		require.NoError(t, json.Unmarshal([]byte(text), target))
		if err := target.Validate(); want == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, want, text)
		}
	}
}

func TestAPipelineThatIsCertainToFailIsReported(t *testing.T) {
	t.Parallel()
	for pipeline, want := range map[string]map[string]string{
		"{name: K8S_CANARY_ROLLOUT}, {name: K8S_TRAFFIC_ROUTING, with: {canary: 50}}": {
			"podselector": "stage 2 of the pipeline: K8S_TRAFFIC_ROUTING: the selector of a Service can send all " +
				"traffic to the primary or all to the canary, not primary 50%, canary 50%",
			"gateway": "stage 2 of the pipeline: K8S_TRAFFIC_ROUTING: a route sends traffic to Services, and " +
				"the pipeline makes none for the canary: set with.createService: true in its K8S_CANARY_ROLLOUT",
			"istio": "",
		},
		"{name: K8S_CANARY_ROLLOUT, with: {createService: true}}, {name: K8S_TRAFFIC_ROUTING, with: {canary: 10, " +
			"baseline: 10}}": {
			"gateway": "has no K8S_BASELINE_ROLLOUT, so there is no baseline to send traffic to: add one before",
			"istio":   "",
		},
		"{name: K8S_CANARY_ROLLOUT, with: {createService: true}}, {name: K8S_TRAFFIC_ROUTING, with: {all: " +
			"canary}}, {name: WAIT, with: {duration: x}}": {
			"podselector": "", "gateway": "", "istio": "",
		},
		"{name: K8S_TRAFFIC_ROUTING, with: {all: baseline}}": {"podselector": "not baseline 100%"},
		"{name: K8S_TRAFFIC_ROUTING}": {"podselector": "says nothing",
			"istio": "says nothing"},
		"{name: WAIT}, {name: K8S_BASELINE_ROLLOUT, with: {replicas: 1.5}}": {"istio": "stage 2 of the pipeline: " +
			"K8S_BASELINE_ROLLOUT: with: replicas"},
		"{name: K8S_ROLLBACK}": {"istio": "runs by itself"},
	} {
		for method, says := range want {
			app, err := decode(t, `{"trafficRouting": {"method": "`+method+`"}}`)
			require.NoError(t, err)
			stages, err := app.PipelineStages([]byte("spec: {pipeline: {stages: [" + pipeline + "]}}"))
			require.NoError(t, err)
			err = app.CheckPipeline(stages)
			if says == "" {
				require.NoError(t, err, "%s by %s", pipeline, method)
				continue
			}
			require.ErrorContains(t, err, says, "%s by %s", pipeline, method)
		}
	}
}

func TestTrafficAddsUp(t *testing.T) {
	t.Parallel()
	for with, want := range map[string]string{
		`{"all": "primary"}`:                 "primary 100%",
		`{"all": "canary"}`:                  "canary 100%",
		`{"all": "baseline"}`:                "baseline 100%",
		`{"canary": 10, "baseline": "10%"}`:  "primary 80%, canary 10%, baseline 10%",
		`{"primary": "50", "canary": "50%"}`: "primary 50%, canary 50%",
		`{"primary": 100}`:                   "primary 100%",
		`{"canary": 100, "primary": 0}`:      "canary 100%",
	} {
		traffic, err := config.DecodeTraffic([]byte(with))
		require.NoError(t, err, with)
		require.Equal(t, want, traffic.String(), with)
	}
	for with, want := range map[string]string{
		`{}`:                               "says nothing",
		`{"all": "green"}`:                 `"green" is not a variant`,
		`{"all": "canary", "canary": 100}`: "not both",
		`{"primary": 50}`:                  "add up to 100%",
		`{"canary": 60, "baseline": 60}`:   "add up to 100%",
		`{"canary": "half"}`:               "not a percentage from 0 to 100",
		`{"canary": 12.5}`:                 "not a percentage from 0 to 100",
		`{"canary": -1}`:                   "not a percentage from 0 to 100",
	} {
		_, err := config.DecodeTraffic([]byte(with))
		require.ErrorContains(t, err, "K8S_TRAFFIC_ROUTING: with", with)
		require.ErrorContains(t, err, want, with)
	}
	_, err := decode(t,
		`{"trafficRouting": {"method": "smi", "istio": {"virtualService": {"kind": "Ingress"}}, `+
			`"gateway": {"route": {"kind": "TCPRoute"}}}}`)
	require.ErrorContains(t, err, `trafficRouting.method: "smi" is not known; use podselector, istio, gateway, `+
		`nginx or traefik`)
	require.ErrorContains(t, err, "virtualService.kind")
	require.ErrorContains(t, err, `gateway.route.kind: "TCPRoute" cannot be routed by; use HTTPRoute or GRPCRoute`)
}

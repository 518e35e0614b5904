// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

// patched reads the options of a stage and makes its canary.
func patched(t *testing.T, m []manifest.Manifest, with string) ([]manifest.Manifest, error) {
	t.Helper()
	data, err := yaml.ToJSON([]byte(with))
	require.NoError(t, err)
	o, err := config.DecodeCanary(data)
	require.NoError(t, err)
	return variant.Canary(m, application(t), o)
}

func TestPatchesOfEveryKindLookAsInTheGoldenFile(t *testing.T) {
	t.Parallel()
	got, err := patched(t, manifests(t), `
patches:
  - target: {kind: Deployment, name: web}
    ops:
      - {op: yaml-replace, path: "$.spec.template.spec.containers[*].image", value: app:replaced}
      - op: json-patch
        value:
          - {op: test, path: /spec/replicas, value: 5}
          - {op: remove, path: /spec/template/spec/volumes/2}
          - {op: add, path: /spec/template/metadata/annotations, value: {canary.example/since: "2026-01-01"}}
      - op: strategic-merge
        value: |
          spec:
            template:
              spec:
                containers:
                  - name: main
                    args: [--canary]
                  - {name: shadow, image: "shadow:v1"}
  - target: {kind: ConfigMap, name: conf}
    ops: [{op: strategic-merge, value: {data: {level: debug}}}]
`)
	require.NoError(t, err)
	golden(t, "canary-patched", got)
}

func TestAPatchCanReachIntoADocumentInsideOfAField(t *testing.T) {
	t.Parallel()
	const manifests = `apiVersion: v1
kind: ConfigMap
metadata: {name: envoy}
data:
  envoy.yaml: |
    a: {b: [1, 2]}
  plain.json: '{"a": {"b": [1, 2]}, "z": "<"}'
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {selector: {}, template: {}}
`
	for path, tt := range map[string]struct{ ops, want string }{
		"$.data['envoy.yaml']":  {`[{path: "$.a.b[1]", value: 9}]`, "a: {b: [1, 9]}"},
		`$.data["envoy.yaml"].`: {`[{op: yaml-replace, path: $.a.b, value: "[x: 1]"}]`, "a: {b: [{x: 1}]}"},
		"$.data.'envoy.yaml'": {`[{op: json-patch, value: '[{"op": "add", "path": "/a/b/-", "value": 3}]'}]`,
			"a: {b: [1, 2, 3]}"},
		"data['envoy.yaml']":      {`[{op: strategic-merge, value: {a: {b: [3], c: true}}}]`, "a: {b: [3], c: true}"},
		"$['data']['plain.json']": {`[{path: "$.a.b[*]", value: 9}]`, `{"a":{"b":[9,9]},"z":"<"}`},
	} {
		m, err := manifest.Parse([]byte(manifests), "a.yaml")
		require.NoError(t, err)
		quoted, err := json.Marshal(path)
		require.NoError(t, err)
		got, err := patched(t, m,
			"patches: [{target: {kind: ConfigMap, name: envoy, documentRoot: "+string(quoted)+"}, ops: "+tt.ops+"}]")
		require.NoError(t, err, path)
		require.Equal(t, "envoy-canary", got[0].GetName())
		data := got[0].Object["data"].(map[string]any)
		if strings.HasPrefix(tt.want, "{") {
			require.Equal(t, tt.want+"\n", data["plain.json"], "JSON stays JSON")
			continue
		}
		require.YAMLEq(t, tt.want, data["envoy.yaml"].(string), path)
	}
}

func TestAPatchThatCannotWorkNamesItsPlace(t *testing.T) {
	t.Parallel()
	const web = "with.patches[0]: Deployment prod/web: "
	for ops, want := range map[string]string{
		`{path: $.spec.nothing, value: 1}`: web +
			`ops[0] (yaml-replace $.spec.nothing): $.spec.nothing: there is no field "nothing"`,
		`{path: "$.spec.template.spec.containers[7]"}`:   `a list of 1 has no item "7"`,
		`{path: "$.spec.template.spec.containers['*']"}`: `has no item "*"`,
		`{path: $}`:                "names no field",
		`{path: $.spec..replicas}`: "a name is missing",
		`{path: "$.spec.template.spec.containers[0"}`: "a [ is not closed",
		`{path: "$.spec.template['spec]"}`:            "a quotation mark is not closed",
		`{path: $.spec.replicas.deeper}`:              `nothing is below "deeper"`,
		`{path: $.spec.replicas, value: "[1"}`:        "value:1: not valid YAML",
		`{path: $.metadata.name, value: other}`:       "a patch must not make it Deployment prod/other",
		`{op: json-patch, value: {op: remove}}`:       web + "ops[0] (json-patch): value must be a list of operations",
		`{op: json-patch, value: [{op: remove}]}`:     "value[0]: remove has no path",
		`{op: json-patch, value: [text]}`:             "value[0] is not an operation",
		`{op: json-patch, value: [{op: test, path: /kind, value: Deployment}, ` +
			`{op: remove, path: /spec/x}]}`: "value[1]: remove /spec/x: ",
		`{op: json-patch, value: [{op: grow, path: /spec}]}`:             "value[0]: grow /spec: ",
		`{op: json-patch, value: [{op: replace, path: "", value: 1}]}`:   "value[0]: replace : ",
		`{op: json-patch, value: [{op: replace, path: "", value: [1]}]}`: "the patch leaves no object",
		`{op: strategic-merge, value: [1]}`:                              "value must be a mapping",
		`{op: strategic-merge, value: {spec: {template: {spec: {containers: [{image: a}]}}}}}`: web +
			"ops[0] (strategic-merge): ",
	} {
		_, err := patched(t, manifests(t), "patches: [{target: {kind: Deployment, name: web}, ops: ["+ops+"]}]")
		require.ErrorContains(t, err, want, ops)
	}
	_, err := patched(t, manifests(t), "patches: [{target: {kind: Deployment, name: absent}, ops: [{path: $.a}]}]")
	require.ErrorContains(t, err, `with.patches[0]: there is no Deployment named "absent"`)
	_, err = patched(t, manifests(t), "patches: [{target: {kind: ConfigMap, name: conf, documentRoot: $.data}, "+
		"ops: [{path: $.a}]}]")
	require.ErrorContains(t, err, "ConfigMap prod/conf: documentRoot: $.data is not text")

	big := manifests(t)
	require.Equal(t, "ConfigMap", big[0].GetKind())
	big[0].Object["data"] = map[string]any{"level": strings.Repeat("x", 600<<10)}
	var copies []string
	for i := range 3 {
		copies = append(copies, fmt.Sprintf("{op: copy, from: /data/level, path: /data/x%d}", i))
	}
	_, err = patched(t, big,
		"patches: [{target: {kind: ConfigMap, name: conf}, ops: [{op: json-patch, value: ["+strings.Join(copies,
			",")+"]}]}]")
	require.ErrorContains(t, err, "value[1]: copy /data/x1: the document grows beyond")
}

// Whatever stands in a patch, making a canary does not crash, and what it makes can be copied and sent.
func FuzzPatch(f *testing.F) {
	f.Add("yaml-replace", "$.spec.replicas", "3", "")
	f.Add("json-patch", "", `[{"op": "move", "from": "/spec", "path": "/metadata/labels"}]`, "")
	f.Add("strategic-merge", "", "spec: {template: {spec: {containers: [{name: main, $patch: delete}]}}}", "")
	f.Add("yaml-replace", "a.'b.c'[*]", "2020-01-01", "$.data['level']")
	f.Fuzz(func(t *testing.T, op, path, value, root string) {
		target := config.PatchTarget{Reference: config.Reference{Kind: "Deployment", Name: "web"}}
		if root != "" {
			target = config.PatchTarget{Reference: config.Reference{Kind: "ConfigMap", Name: "conf"},
				DocumentRoot: root}
		}
		got, err := variant.Canary(manifests(t), application(t),
			config.CanaryOptions{Suffix: "c", Patches: []config.Patch{{
				Target: target, Ops: []config.PatchOp{{Op: op, Path: path, Value: config.PatchValue(value)}},
			}}})
		if err != nil {
			return
		}
		for _, m := range got {
			_, err := m.Clone().MarshalJSON()
			require.NoError(t, err)
		}
	})
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

const idleRule = "v1:ConfigMap:shop:lost#data"

func TestARuleThatIgnoresNothingIsReported(t *testing.T) {
	t.Parallel()
	rules, err := ignoreRules([]byte(`
spec:
  driftDetection:
    ignoreFields:
      - v1:ConfigMap:shop:conf#data.a
      - v1:ConfigMap:shop:conf#data.live
      - v1:ConfigMap:shop:conf#data.typo
      - ` + idleRule + `
      - v1:ConfigMap:shop:conf#manager=editor
      - v1:ConfigMap:shop:conf#manager=other
      - v1:ConfigMap:shop:away#data.unknown
`))
	require.NoError(t, err)
	git := func(name string) manifest.Manifest {
		return manifest.Manifest{Unstructured: parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+
			", namespace: shop}, data: {a: '1'}}")}
	}
	live := parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: conf, namespace: shop, uid: u, "+
		"managedFields: [{manager: editor, fieldsV1: {f:data: {f:live: {}}}}]}, data: {a: '1', live: '1'}}")
	all := []manifest.Manifest{git("conf"), git("away")}
	d := &drift{ignored: rules}
	idle := d.idle(all, []place{{manifest: all[0], known: true}, {manifest: all[1], known: true}},
		liveOf([]*object{{live: live}}))
	require.Equal(t, map[string]string{
		"driftDetection.ignoreFields[2]": "v1:ConfigMap:shop:conf has no such field in Git or in the cluster: " +
			"data.typo",
		"driftDetection.ignoreFields[3]": "no object of the application is v1:ConfigMap:shop:lost",
		"driftDetection.ignoreFields[5]": "no field of v1:ConfigMap:shop:conf was written by other",
	}, idle)

	synced := sdk.SyncState{Status: sdk.Synced}
	state := merge([]answer{{sync: synced, idle: idle}}).Sync
	require.Equal(t, sdk.Synced, state.Status, "it is no drift")
	require.Equal(t, "driftDetection.ignoreFields[2] ignores nothing: v1:ConfigMap:shop:conf has no such field in Git "+
		"or in the cluster: data.typo", state.ShortReason)
	require.Equal(t, 3, strings.Count(state.Reason, "ignores nothing"))
	require.Empty(t, merge([]answer{{sync: synced, idle: idle}, {sync: synced}}).Sync.ShortReason,
		"it is used at the other deploy target, or that one is away")
}

// Whatever the names of fields are: a rule with the path of a difference ignores the difference.
func FuzzAPrintedPathIsARule(f *testing.F) {
	f.Add("a.b/c", "web", "x[0]")
	f.Add(`"`, "a]b", "#")
	f.Add("*", "0", " ")
	f.Add("a", "b", strings.Repeat("\xec", 650)) // four times as long when it is quoted
	f.Add("a", strings.Repeat("b", 2000), strings.Repeat("c", 2000))
	f.Add(strings.Repeat("a", 3000), "b", "c")
	f.Fuzz(func(t *testing.T, field, element, inner string) {
		named := func(value string) map[string]any {
			return map[string]any{"apiVersion": "v1", "kind": "Thing", "metadata": map[string]any{"name": "a"},
				"spec": map[string]any{field: []any{map[string]any{"name": element, inner: value}}}}
		}
		want, live := parse(t, "{}"), parse(t, "{}")
		want.Object, live.Object = named("1"), named("2")
		d := &drift{}
		for _, one := range compareObjects(live, want) {
			rules, err := ignoreRules([]byte("spec: {driftDetection: {ignoreFields: [" +
				quoteYAML("v1:Thing::a#"+one.path) + "]}}"))
			if err != nil {
				t.Fatalf("%q: %v", one.path, err)
			}
			if d.ignored = rules; !d.isIgnored(manifest.Manifest{Unstructured: want}, live, one) {
				t.Fatalf("%q is not ignored", one.path)
			}
		}
	})
}

// quoteYAML writes a text as YAML and JSON have it.
func quoteYAML(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return ""
	}
	return string(data)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

var update = flag.Bool("update", false, "rewrite the reasons of testdata/drift")

// The files of a case: git and live hold YAML documents, applied those that a dry run gives (a missing one is refused),
// app the application configuration, and want the reason.
func TestDriftRules(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/drift/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			parts := split(string(text))
			state := compareCase(t, parts)
			want := strings.TrimSpace(parts["want"])
			if *update {
				before, _, _ := strings.Cut(string(text), "-- want --\n")
				require.NoError(t, os.WriteFile(file, []byte(strings.TrimSuffix(before+"-- want --\n"+state.Reason,
					"\n")+"\n"), 0o644))
			}
			require.Equal(t, want, state.Reason, "go test ./plugins/kubernetes/livestate -update writes the "+
				"new reason")
			require.Equal(t, want == "", state.Status == sdk.Synced)
			require.Equal(t, want == "", state.ShortReason == "")
		})
	}
}

// split takes a file apart at its lines "-- name --".
func split(text string) map[string]string {
	parts := map[string]string{}
	name := "comment"
	for line := range strings.Lines(text) {
		if inner, ok := strings.CutPrefix(line, "-- "); ok {
			name = strings.TrimSuffix(inner, " --\n")
			continue
		}
		parts[name] += line
	}
	return parts
}

func compareCase(t *testing.T, parts map[string]string) *sdk.SyncState {
	t.Helper()
	masker := newMasker()
	var places []place
	for _, o := range documents(t, parts["git"]) {
		masker.mask(o)
		places = append(places, place{manifest: manifest.Manifest{Unstructured: o}, known: true})
	}
	var objects []*object
	for _, o := range documents(t, parts["live"]) {
		masker.mask(o)
		objects = append(objects, &object{live: o})
	}
	applied := map[manifest.Key]*unstructured.Unstructured{}
	for _, o := range documents(t, parts["applied"]) {
		applied[manifest.KeyOf(o)] = o
	}
	rules, err := ignoreRules([]byte(parts["app"]))
	require.NoError(t, err)
	d := &drift{
		dryRun: func(_ context.Context, _ schema.GroupVersionResource, m manifest.Manifest) (*unstructured.Unstructured,
			error) {
			if o := applied[m.Key()]; o != nil {
				return o, nil
			}
			for _, o := range objects { // as a stage has left it
				if manifest.KeyOf(o.live) == m.Key() && len(suspect(m.Unstructured, o.live)) == 0 {
					return o.live, nil
				}
			}
			return nil, apierrors.NewBadRequest("refused")
		},
		holder: func(place) string { return "" }, verdicts: newMemory[verdictKey, []difference](10), ignored: rules,
		target: "local",
		source: &stage.Source{CommitHash: "0123456789", App: config.Application{}},
	}
	require.NoError(t, yaml.Unmarshal([]byte(parts["settings"]), &d.source.App))
	require.NoError(t, d.source.App.Validate())
	d.source.ConfigData = []byte(parts["app"])
	var manifests []manifest.Manifest
	for _, p := range places {
		manifests = append(manifests, p.manifest)
	}
	d.ignored, d.routed, err = ignoredFields(d.source, manifests)
	require.NoError(t, err)
	found, err := d.compare(t.Context(), places, objects)
	require.NoError(t, err)
	return d.state(found)
}

func documents(t *testing.T, text string) (list []*unstructured.Unstructured) {
	t.Helper()
	for _, each := range strings.Split(text, "---\n") {
		if strings.TrimSpace(each) == "" {
			continue
		}
		data, err := yaml.ToJSON([]byte(each))
		require.NoError(t, err)
		o := &unstructured.Unstructured{}
		require.NoError(t, o.UnmarshalJSON(data))
		list = append(list, o)
	}
	return list
}

func TestADryRunIsMadeOnceForAStateOfAnObject(t *testing.T) {
	t.Parallel()
	want := parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: '1'}}")
	live := parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: u, resourceVersion: '1'}, data: "+
		"{x: '2'}}")
	calls := 0
	all := func(difference) bool { return true }
	d := &drift{
		dryRun: func(context.Context, schema.GroupVersionResource, manifest.Manifest) (*unstructured.Unstructured,
			error) {
			calls++
			return want, nil
		},
		verdicts: newMemory[verdictKey, []difference](10),
	}
	p := place{manifest: manifest.Manifest{Unstructured: want}, known: true}
	for range 3 {
		found, refused, err := d.differences(t.Context(), p, live, all)
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Empty(t, refused)
	}
	require.Equal(t, 1, calls)
	live.SetResourceVersion("2")
	_, _, err := d.differences(t.Context(), p, live, all)
	require.NoError(t, err)
	require.Equal(t, 2, calls)
}

func TestADryRunThatGetsNoAnswerIsNoDrift(t *testing.T) {
	t.Parallel()
	want := parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: '1'}}")
	live := parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: u, resourceVersion: '1'}, data: "+
		"{x: '2'}}")
	lost := errors.New("connection reset")
	d := &drift{
		dryRun: func(context.Context, schema.GroupVersionResource, manifest.Manifest) (*unstructured.Unstructured,
			error) {
			return nil, lost
		},
		verdicts: newMemory[verdictKey, []difference](10),
		source:   &stage.Source{},
	}
	_, err := d.compare(t.Context(), []place{{manifest: manifest.Manifest{Unstructured: want}, known: true}},
		[]*object{{live: live}})
	require.ErrorIs(t, err, lost)
	require.ErrorContains(t, err, "ConfigMap a")
}

func TestEachResourceSaysHowItDiffersAndWhatIsMissingIsOne(t *testing.T) {
	t.Parallel()
	live := parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: u}}")
	states := marked(judge{}.resources(t.Context(), []*object{{live: live}}, "local"), []finding{
		{key: manifest.KeyOf(live), live: live,
			differences: []difference{{path: "data.x", git: "1", live: "2"}, {path: "b"}, {path: "c"}, {path: "d"}}},
		{key: manifest.Key{Kind: "Service", Namespace: "shop", Name: "web"}, what: "is missing in the cluster"},
	}, "local")
	require.Len(t, states, 2)
	require.Equal(t,
		`data.x: "1" in Git, "2" live; b: nothing in Git, nothing live; c: nothing in Git, nothing live; `+
			`and 1 more fields`, states[0].Metadata["Drift"])
	require.Equal(t, sdk.Healthy, states[0].Health)
	require.Equal(t, "missing/local/:Service:shop:web", states[1].ID)
	require.Equal(t, "is missing in the cluster", states[1].Metadata["Drift"])
	require.Equal(t, sdk.Unhealthy, states[1].Health)
}

func TestAReasonIsBounded(t *testing.T) {
	t.Parallel()
	var git, live strings.Builder
	for i := range 2 * maxFindings {
		fmt.Fprintf(&git, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%02d}\ndata:\n", i)
		fmt.Fprintf(&live, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%02d, uid: u%d}\ndata:\n", i, i)
		for j := range 2 * maxDifferences {
			fmt.Fprintf(&git, "  k%02d: %s\n", j, strings.Repeat("g", 2*maxValueBytes))
			fmt.Fprintf(&live, "  k%02d: %s\n", j, strings.Repeat("l", 2*maxValueBytes))
		}
	}
	state := compareCase(t, map[string]string{"git": git.String(), "live": live.String()})
	require.Equal(t, fmt.Sprintf("%d resources are not as in Git", 2*maxFindings), state.ShortReason)
	require.Contains(t, state.Reason, fmt.Sprintf("  and %d more fields\n", maxDifferences))
	require.True(t, strings.HasSuffix(state.Reason, fmt.Sprintf("and %d more resources", maxFindings)))
	require.Less(t, len(state.Reason), maxFindings*maxDifferences*(2*maxValueBytes+60)+4096)
}

func TestAWrongIgnoreRuleIsNamed(t *testing.T) {
	t.Parallel()
	_, err := ignoreRules([]byte("spec:\n  driftDetection:\n" +
		"    ignoreFields: ['apps/v1:Deployment:web#spec.replicas']\n"))
	require.ErrorContains(t, err, "spec.driftDetection.ignoreFields[0]")
}

func TestMemoryKeepsWhatWasUsedLast(t *testing.T) {
	t.Parallel()
	m := newMemory[int, string](2)
	m.put(1, "one")
	m.put(2, "two")
	_, _ = m.get(1)
	m.put(3, "three")
	require.Len(t, m.entries, 2)
	_, known := m.get(2)
	require.False(t, known)
	value, known := m.get(1)
	require.True(t, known)
	require.Equal(t, "one", value)
}

func TestAJobThatHasRemovedItselfIsInTheTree(t *testing.T) {
	t.Parallel()
	job := func(name string) place {
		object := parse(t, "{apiVersion: batch/v1, kind: Job, metadata: {name: "+name+", namespace: shop}, "+
			"spec: {ttlSecondsAfterFinished: 30}}")
		return place{known: true, manifest: manifest.Manifest{Unstructured: object}}
	}
	there := job("there").manifest.Unstructured
	foreign := finding{key: job("foreign").manifest.Key(), foreign: true, what: "belongs to another"}
	states := collected([]place{job("gone"), job("there"), job("foreign")}, []*object{{live: there}},
		[]finding{foreign}, "local")
	require.Len(t, states, 1)
	require.Equal(t, "gone", states[0].Name)
	require.Equal(t, sdk.Healthy, states[0].Health)
	require.Equal(t, "has ended, and was removed 30 s later (ttlSecondsAfterFinished)",
		states[0].HealthDescription)
}

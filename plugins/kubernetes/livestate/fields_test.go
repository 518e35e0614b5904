// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// fixedMapper knows kinds without a cluster.
type fixedMapper struct{ meta.RESTMapper }

func (fixedMapper) Reset() {}

// placing is a watched cluster that knows the kinds of these tests, and gives objects without a namespace one.
func placing(t *testing.T, namespace string) *watched {
	t.Helper()
	w := unstarted(t, nil)
	known := meta.NewDefaultRESTMapper(nil)
	known.Add(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, meta.RESTScopeNamespace)
	known.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
	known.Add(schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, meta.RESTScopeNamespace)
	known.Add(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, meta.RESTScopeRoot)
	w.client.Mapper, w.client.Namespace = fixedMapper{known}, namespace
	return w
}

// compared3 are the fields in which the live objects differ from Git. newest is "" when Git has what was applied.
func compared3(t *testing.T, applied, live, newest string) []sdk.ResourceDrift {
	t.Helper()
	return compared3In(t, "", applied, live, newest)
}

// compared3In compares in a cluster that gives objects without a namespace one.
func compared3In(t *testing.T, namespace, applied, live, newest string) []sdk.ResourceDrift {
	t.Helper()
	masker, label := newMasker(), config.Application{}
	require.NoError(t, label.Validate())
	d := &drift{
		dryRun: func(_ context.Context, _ schema.GroupVersionResource,
			m manifest.Manifest) (*unstructured.Unstructured, error) {
			return m.Unstructured, nil
		},
		holder: func(place) string { return "" }, verdicts: newMemory[verdictKey, []difference](10),
		source: &stage.Source{CommitHash: "c1", App: label},
	}
	a := answer{target: "local", looked: look{cluster: placing(t, namespace), drift: d}}
	for _, o := range documents(t, applied) {
		masker.mask(o)
		one, err := a.looked.cluster.place(manifest.Manifest{Unstructured: o})
		require.NoError(t, err)
		a.looked.places = append(a.looked.places, one)
	}
	for _, o := range documents(t, live) {
		masker.mask(o)
		a.looked.objects = append(a.looked.objects, &object{live: o})
	}
	var inGit *wanted
	if newest != "" {
		inGit = &wanted{}
		for _, o := range documents(t, newest) {
			masker.mask(o)
			inGit.manifests = append(inGit.manifests, manifest.Manifest{Unstructured: o})
		}
	}
	var err error
	a.found, err = d.compare(t.Context(), a.looked.places, a.looked.objects)
	require.NoError(t, err)
	all, err := a.drifts(inGit)
	require.NoError(t, err)
	return all
}

// sentences are fields in a line each.
func sentences(all []sdk.ResourceDrift) (lines []string) {
	for _, d := range all {
		for _, f := range d.Fields {
			lines = append(lines, fmt.Sprintf("%s %s: %s | %s | %s %s", d.ResourceID, f.Path, f.Git,
				f.Live, f.Applied, strings.TrimPrefix(f.Change.String(), "CHANGE_")))
		}
	}
	return lines
}

func workload(uid string, replicas int, image, annotations string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: web, uid: "%s", annotations: {%s}}
spec:
  replicas: %d
  template: {spec: {containers: [{name: web, image: "%s"}]}}
`, uid, annotations, replicas, image)
}

func TestAFieldHasItsThreeValues(t *testing.T) {
	t.Parallel()
	const image = "spec.template.spec.containers[web].image"
	for name, c := range map[string]struct {
		applied, live, newest string
		want                  []string
	}{
		"as in Git": {workload("", 1, "v1", ""), workload("u", 1, "v1", ""), "", nil},
		"changed by hand": {workload("", 1, "v1", ""), workload("u", 2, "v1", ""), "",
			[]string{"u spec.replicas: 1 | 2 | 1 LIVE"}},
		"changed by hand, and Git has another field since": {workload("", 1, "v1", ""), workload("u", 2, "v1", ""),
			workload("", 1, "v2", ""),
			[]string{"u spec.replicas: 1 | 2 | 1 LIVE", "u " + image + `: "v2" | "v1" | "v1" GIT`}},
		"all three differ": {workload("", 1, "v1", ""), workload("u", 2, "v1", ""), workload("", 3, "v1", ""),
			[]string{"u spec.replicas: 3 | 2 | 1 BOTH"}},
		"live is as in Git already": {workload("", 1, "v1", ""), workload("u", 2, "v1", ""), workload("", 2, "v1", ""),
			[]string{"u spec.replicas: 2 | 2 | 1 APPLIED"}},
		"Git alone has changed": {workload("", 1, "v1", ""), workload("u", 1, "v1", ""), workload("", 1, "v2", ""),
			[]string{"u " + image + `: "v2" | "v1" | "v1" GIT`}},
		"a field that Git removes": {workload("", 1, "v1", "example.com/a: b"),
			workload("u", 1, "v1", "example.com/a: b"), workload("", 1, "v1", ""),
			[]string{`u metadata.annotations["example.com/a"]:  | "b" | "b" GIT`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, sentences(compared3(t, c.applied, c.live, c.newest)))
		})
	}
}

func TestAHookThatGitHasChangedHasNoDrift(t *testing.T) {
	t.Parallel()
	hook := func(image string) string { return workload("u1", 1, image, "helm.sh/hook: pre-upgrade") }
	require.Empty(t, compared3(t, hook("a:1"), hook("a:1"), hook("a:2")))
}

func TestWhatGitAsksForIsPlacedLikeWhatWasApplied(t *testing.T) {
	t.Parallel()
	config := func(more, value string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%s}\ndata: {a: %s}\n", more, value)
	}
	whole := func(more string) string {
		return fmt.Sprintf("---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop%s}\n", more)
	}
	for _, namespace := range []string{"default", "shop"} {
		t.Run(namespace, func(t *testing.T) {
			t.Parallel()
			there := ", namespace: " + namespace
			live := config(there+", uid: u", "v1") + whole(", uid: n")
			for name, newest := range map[string]string{
				"no namespace in Git": config("", "v1") + whole(""),
				"the same in Git":     config(there, "v1") + whole(""),
				"one that is dropped": config("", "v1") + whole(there),
			} {
				require.Empty(t, sentences(compared3In(t, namespace, config("", "v1")+whole(""), live, newest)), name)
			}
			require.Equal(t, []string{`u data.a: "v2" | "v1" | "v1" GIT`},
				sentences(compared3In(t, namespace, config("", "v1")+whole(""), live, config("", "v2")+whole(""))))
			edited := config(there+", uid: u", "v3") + whole(", uid: n")
			require.Equal(t, []string{`u data.a: "v1" | "v3" | "v1" LIVE`},
				sentences(compared3In(t, namespace, config("", "v1")+whole(""), edited, config("", "v1")+whole(""))))
		})
	}
}

func TestTheFieldsOfASecretAreStars(t *testing.T) {
	t.Parallel()
	secret := func(uid, value string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: s, uid: \"%s\"}\nstringData: {a: %s}\n",
			uid, value)
	}
	all := compared3(t, secret("", "first"), secret("u", "second"), secret("", "third"))
	require.Equal(t, []string{`u data.a: "******" | "******" | "******" BOTH`}, sentences(all))
	require.True(t, all[0].Fields[0].Secret)
}

func TestFieldsAreBounded(t *testing.T) {
	t.Parallel()
	var applied, live strings.Builder
	for i := range 3 {
		fmt.Fprintf(&applied, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\ndata:\n", i)
		fmt.Fprintf(&live, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d, uid: u%d}\ndata:\n", i, i)
		for j := range 2 * maxDriftFields {
			fmt.Fprintf(&applied, "  k%03d: %s\n", j, strings.Repeat("g", 2*maxDriftValueBytes))
			fmt.Fprintf(&live, "  k%03d: %s\n", j, strings.Repeat("l", 2*maxDriftValueBytes))
		}
	}
	all := compared3(t, applied.String(), live.String(), "")
	require.Len(t, all, 3)
	require.Len(t, all[0].Fields, maxDriftFields)
	require.EqualValues(t, maxDriftFields, all[0].MoreFields)
	require.LessOrEqual(t, len(all[0].Fields[0].Live), maxDriftValueBytes)

	room := 10 << 10
	fit(&all[0], room)
	require.LessOrEqual(t, all[0].Size(), room)
	require.NotEmpty(t, all[0].Fields)
	require.EqualValues(t, 2*maxDriftFields, len(all[0].Fields)+int(all[0].MoreFields))
	require.Zero(t, fit(&all[1], 0))
	require.Empty(t, all[1].Fields)
}

func TestAFieldThatTheDeploymentDidNotApplyWasChangedInGit(t *testing.T) {
	t.Parallel()
	commit := func(hash string) string { return "pipecd.dev/commit-hash: " + hash }
	wanted := workload("", 2, "web:v2", commit("c1"))
	require.Equal(t, []string{
		"u1 spec.template.spec.containers[web].image: \"web:v2\" | \"web:v1\" | \"web:v1\" GIT",
	}, sentences(compared3(t, wanted, workload("u1", 2, "web:v1", commit("c0")), "")))
	require.Equal(t, []string{
		"u1 spec.template.spec.containers[web].image: \"web:v2\" | \"web:v1\" | \"web:v2\" LIVE",
	}, sentences(compared3(t, wanted, workload("u1", 2, "web:v1", commit("c1")), "")))
	edited := strings.Replace(workload("u1", 3, "web:v1", commit("c0")), "metadata: {", "metadata: {managedFields: "+
		"[{manager: hand, operation: Update, fieldsV1: {'f:spec': {'f:replicas': {}}}}], ", 1)
	require.Equal(t, []string{
		"u1 spec.replicas: 2 | 3 |  BOTH",
		"u1 spec.template.spec.containers[web].image: \"web:v2\" | \"web:v1\" | \"web:v1\" GIT",
	}, sentences(compared3(t, wanted, edited, "")))
}

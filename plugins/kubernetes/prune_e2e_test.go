// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/pipedeck/pipedeck/api/model"
)

// widgets is a kind of the test's own.
type widgets struct {
	a     *app
	group string
}

func newWidgets(a *app) widgets {
	w := widgets{a: a, group: fmt.Sprintf("g%d.example.com", time.Now().UnixNano())}
	a.t.Cleanup(func() {
		_ = a.live().Dynamic.Resource(crds).Delete(context.Background(), w.name(), metav1.DeleteOptions{})
	})
	return w
}

func (w widgets) name() string { return "widgets." + w.group }

func (w widgets) definition() string {
	return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + w.name() + `}
spec:
  group: ` + w.group + `
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget}
  versions: [{name: v1, served: true, storage: true,
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`
}

// create makes a Widget as someone would by hand.
func (w widgets) create(namespace, name string) {
	w.a.t.Helper()
	_, err := w.in(namespace).Create(w.a.t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": w.group + "/v1", "kind": "Widget", "metadata": map[string]any{"name": name},
	}}, metav1.CreateOptions{})
	require.NoError(w.a.t, err)
}

func (w widgets) in(namespace string) dynamic.ResourceInterface {
	return w.a.live().Dynamic.Resource(schema.GroupVersionResource{Group: w.group, Version: "v1",
		Resource: "widgets"}).Namespace(namespace)
}

// otherNamespace makes a namespace that no application has.
func otherNamespace(a *app) string {
	a.t.Helper()
	name := a.namespace + "-other"
	r := a.live().Dynamic.Resource(namespaces)
	_, err := r.Create(a.t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}, metav1.CreateOptions{})
	require.NoError(a.t, err)
	a.t.Cleanup(func() { _ = r.Delete(context.Background(), name, metav1.DeleteOptions{}) })
	return name
}

func chartFiles(files map[string]string) map[string]string {
	all := map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"chart/templates/kept.yaml": configMap("kept")}
	maps.Copy(all, files)
	return all
}

// annotated is a ConfigMap with one annotation.
func annotated(name, annotation string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", annotations: {" + annotation + "}}\n"
}

func TestPruneKeepsADefinitionThatHasObjectsOfOthers(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	w := newWidgets(a)
	before := &commit{Hash: "aaaaaaa1", Files: map[string]string{"kept.yaml": configMap("kept"),
		"crd.yaml": w.definition()}}
	after := &commit{Hash: "aaaaaaa2", Files: map[string]string{"kept.yaml": configMap("kept")}}
	a.succeeds("K8S_SYNC", "", before, nil)
	other := otherNamespace(a)
	w.create(other, "theirs")
	a.settings += "}\n      quickSync: {prune: true"
	summary, details := a.previews(after, before)
	require.Contains(t, summary, "0 deleted manifests")
	require.Contains(t, details, "CustomResourceDefinition "+w.name()+" would be kept, because it holds 1 object "+
		"that is not deleted with it: Widget "+other+"/theirs")
	log := a.succeeds("K8S_SYNC", `{"prune": true}`, after, before)
	_, err := w.in(other).Get(t.Context(), "theirs", metav1.GetOptions{})
	require.NoError(t, err, log)
	require.Contains(t, log, "CustomResourceDefinition "+w.name()+": kept, because it holds 1 object that is not "+
		"deleted with it: Widget "+other+"/theirs")

	require.NoError(t, w.in(other).Delete(t.Context(), "theirs", metav1.DeleteOptions{}))
	log = a.succeeds("K8S_SYNC", `{"prune": true}`, after, before)
	require.Contains(t, log, "CustomResourceDefinition "+w.name()+": deleted")
	_, err = a.live().Dynamic.Resource(crds).Get(t.Context(), w.name(), metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}

func TestPruneNeverDeletesTheDefinitionsOfAChartsFolder(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += ", helmChart: {path: chart}"
	w := newWidgets(a)
	before := &commit{Hash: "aaaaaaa1", Files: chartFiles(map[string]string{"chart/crds/widgets.yaml": w.definition()})}
	a.succeeds("K8S_SYNC", "", before, nil)
	log := a.succeeds("K8S_SYNC", `{"prune": true}`, &commit{Hash: "aaaaaaa2", Files: chartFiles(nil)}, before)
	require.Contains(t, log, "CustomResourceDefinition "+w.name()+": kept, because it came from the crds/ folder "+
		"of a chart")
	_, err := a.live().Dynamic.Resource(crds).Patch(t.Context(), w.name(), types.MergePatchType,
		[]byte(`{"metadata": {"annotations": {"pipecd.dev/prune": "true"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	log = a.succeeds("K8S_SYNC", `{"prune": true}`, &commit{Hash: "aaaaaaa2", Files: chartFiles(nil)}, before)
	require.Contains(t, log, "CustomResourceDefinition "+w.name()+": deleted")
}

func TestTheDefinitionsOfAChartsFolderAreSharedByItsApplications(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += ", helmChart: {path: chart}"
	w := newWidgets(a)
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"chart/Chart.yaml":        "{apiVersion: v2, name: w, version: 1.0.0}",
		"chart/crds/widgets.yaml": w.definition()}}
	a.succeeds("K8S_SYNC", "", one, nil)
	first := a.id
	a.id = "other-" + first
	require.NotContains(t, a.succeeds("K8S_SYNC", "", one, nil), "take it from each other")
	a.becomes(one, "in sync as the one that has applied it", inSync)
	a.id = first
	a.becomes(one, "in sync as another one", inSync)
	require.NoError(t, a.live().Dynamic.Resource(crds).Delete(t.Context(), w.name(), metav1.DeleteOptions{}))
	answer := a.becomes(one, "out of sync", outOfSync)
	require.Contains(t, answer.GetSyncState().GetReason(), w.name()+" is missing in the cluster")
}

func TestARollbackKeepsTheDefinitionsOfAChartsFolder(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += ", helmChart: {path: chart}"
	w := newWidgets(a)
	bad := &commit{Hash: "aaaaaaa1", Files: chartFiles(map[string]string{
		"chart/crds/widgets.yaml":  w.definition(),
		"chart/templates/bad.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\nnonsense: 1\n",
	})}
	a.fails("K8S_SYNC", "", bad, nil)
	log := a.succeeds("K8S_ROLLBACK", "", bad, nil)
	require.Contains(t, log, "CustomResourceDefinition "+w.name()+": kept, because it came from the crds/ folder "+
		"of a chart")
	_, err := a.live().Dynamic.Resource(crds).Get(t.Context(), w.name(), metav1.GetOptions{})
	require.NoError(t, err)
}

func TestPruneKeepsANamespaceThatHoldsObjectsOfNoApplication(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	name := a.namespace + "-extra"
	t.Cleanup(func() {
		_ = a.live().Dynamic.Resource(namespaces).Delete(context.Background(), name, metav1.DeleteOptions{})
	})
	before := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"kept.yaml": configMap("kept"), "ns.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + name + "}\n",
	}}
	after := &commit{Hash: "aaaaaaa2", Files: map[string]string{"kept.yaml": configMap("kept")}}
	a.succeeds("K8S_SYNC", "", before, nil)
	maps := a.live().Dynamic.Resource(configMaps).Namespace(name)
	for i := range 5 {
		_, err := maps.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": fmt.Sprintf("by-hand-%d", i)},
		}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	log := a.succeeds("K8S_SYNC", `{"prune": true}`, after, before)
	require.Contains(t, log, "Namespace "+name+": kept, because it holds 5 objects that are not deleted with it: "+
		"ConfigMap "+name+"/by-hand-0, ")
	require.Contains(t, log, "and 2 more")
	_, err := maps.Get(t.Context(), "by-hand-4", metav1.GetOptions{})
	require.NoError(t, err)

	require.NoError(t, maps.DeleteCollection(t.Context(), metav1.DeleteOptions{},
		metav1.ListOptions{FieldSelector: "metadata.name!=kube-root-ca.crt"}))
	log = a.succeeds("K8S_SYNC", `{"prune": true}`, after, before)
	require.Contains(t, log, "Namespace "+name+": deleted")
}

func TestAnnotationsExcludeObjectsFromDeletion(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	annotations := map[string]string{
		"helm":        "helm.sh/resource-policy: keep",
		"pipecd":      "pipecd.dev/prune: 'false'",
		"argo-prune":  "argocd.argoproj.io/sync-options: 'ServerSideApply=true, Prune=false'",
		"argo-delete": "argocd.argoproj.io/sync-options: Delete=false",
		"flux":        "kustomize.toolkit.fluxcd.io/prune: disabled",
	}
	before := &commit{Hash: "aaaaaaa1", Files: map[string]string{"kept.yaml": configMap("kept"),
		"dropped.yaml": configMap("dropped")}}
	for name, annotation := range annotations {
		before.Files[name+".yaml"] = annotated(name, annotation)
	}
	after := &commit{Hash: "aaaaaaa2", Files: map[string]string{"kept.yaml": configMap("kept")}}
	a.succeeds("K8S_SYNC", "", before, nil)
	log := a.succeeds("K8S_SYNC", `{"prune": true}`, after, before)
	require.Contains(t, log, "Pruned 1 resource ")
	for name := range annotations {
		require.Contains(t, log, "ConfigMap "+a.namespace+"/"+name+": kept, because of its annotation ")
		a.get(configMaps, name)
	}
	a.absent(configMaps, "dropped")
}

func TestARollbackKeepsWhatItsAnnotationExcludes(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	bad := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"a.yaml": annotated("precious", "helm.sh/resource-policy: keep"), "b.yaml": configMap("plain"),
		"z.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nnonsense: 1\n",
	}}
	a.fails("K8S_SYNC", "", bad, nil)
	log := a.succeeds("K8S_ROLLBACK", "", bad, nil)
	require.Contains(t, log, "ConfigMap "+a.namespace+"/precious: kept, because of its annotation "+
		"helm.sh/resource-policy: keep")
	a.get(configMaps, "precious")
	a.absent(configMaps, "plain")
}

func TestAVariantGoesAlthoughItsPrimaryIsKept(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.pipeline = "  pipeline: {stages: [{name: K8S_CANARY_ROLLOUT}, {name: K8S_PRIMARY_ROLLOUT}, {name: " +
		"K8S_CANARY_CLEAN}]}\n"
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"d.yaml": strings.Replace(deploymentYAML("web", "app:v1", 1, ""), "  name: web\n",
			"  name: web\n  annotations: {helm.sh/resource-policy: keep}\n", 1),
		"c.yaml": annotated("conf", "pipecd.dev/prune: 'false'"),
	}}
	a.succeeds("K8S_CANARY_ROLLOUT", "{}", c, nil)
	a.succeeds("K8S_CANARY_CLEAN", "{}", c, nil)
	a.absent(deployments, "web-canary")
	a.absent(configMaps, "conf-canary")

	a.succeeds("K8S_CANARY_ROLLOUT", "{}", c, nil)
	a.patch("conf-canary", `{"metadata": {"annotations": {"pipecd.dev/prune": "false"}}}`)
	log := a.succeeds("K8S_CANARY_CLEAN", "{}", c, nil)
	require.Contains(t, log, "ConfigMap "+a.namespace+"/conf-canary: kept, because of its annotation "+
		"pipecd.dev/prune: false")
	a.get(configMaps, "conf-canary")
}

func TestAnObjectIsOnlyCalledDeletedWhenItIsGone(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	before := &commit{Hash: "aaaaaaa1", Files: map[string]string{"kept.yaml": configMap("kept"),
		"dropped.yaml": configMap("dropped")}}
	after := &commit{Hash: "aaaaaaa2", Files: map[string]string{"kept.yaml": configMap("kept")}}
	a.succeeds("K8S_SYNC", "", before, nil)
	a.patch("dropped", `{"metadata": {"finalizers": ["example.com/hold"]}}`)
	ended := a.begin("K8S_SYNC", `{"prune": true}`, after, before)
	dropped := "ConfigMap " + a.namespace + "/dropped: "
	a.says("stage-2", dropped+"Terminating, held by finalizers example.com/hold")
	require.NotContains(t, a.h.Piped.Log("stage-2"), dropped+"deleted")
	a.patch("dropped", `{"metadata": {"finalizers": null}}`)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, <-ended, a.h.Piped.Log("stage-2"))
	require.Contains(t, a.h.Piped.Log("stage-2"), dropped+"deleted")
}

func TestWhatStaysHeldIsReportedAndDoesNotFailTheStage(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.pipeline = "  pipeline: {stages: [{name: K8S_SYNC, timeout: 6s, with: {prune: true}}]}\n"
	before := &commit{Hash: "aaaaaaa1", Files: map[string]string{"kept.yaml": configMap("kept"),
		"dropped.yaml": configMap("dropped")}}
	after := &commit{Hash: "aaaaaaa2", Files: map[string]string{"kept.yaml": configMap("kept")}}
	a.succeeds("K8S_SYNC", "", before, nil)
	a.patch("dropped", `{"metadata": {"finalizers": ["example.com/hold"]}}`)
	log := a.succeeds("K8S_SYNC", `{"prune": true}`, after, before)
	require.Regexp(t, "ConfigMap "+a.namespace+"/dropped: still Terminating after [23]s, held by finalizers "+
		"example.com/hold", log)
	require.Contains(t, log, "1 resource that is not in Git any more is still Terminating")
	require.NotContains(t, log, "dropped: deleted")
	a.patch("dropped", `{"metadata": {"finalizers": null}}`)
}

func TestAForcedReplacementKeepsANamespaceThatHoldsObjects(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	name := a.namespace + "-extra"
	t.Cleanup(func() {
		_ = a.live().Dynamic.Resource(namespaces).Delete(context.Background(), name, metav1.DeleteOptions{})
	})
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"ns.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + name +
			", annotations: {pipecd.dev/force-sync-by-replace: enabled}}\n",
	}}
	a.succeeds("K8S_SYNC", "", c, nil)
	a.succeeds("K8S_SYNC", "", c, nil)
	_, err := a.live().Dynamic.Resource(configMaps).Namespace(name).Create(t.Context(),
		&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "by-hand"},
		}}, metav1.CreateOptions{})
	require.NoError(t, err)
	log := a.fails("K8S_SYNC", "", c, nil)
	require.Contains(t, log, "ns.yaml:3: Namespace "+name+": it is not deleted and created again, because it "+
		"holds 1 object that is not deleted with it: ConfigMap "+name+"/by-hand")
	_, err = a.live().Dynamic.Resource(configMaps).Namespace(name).Get(t.Context(), "by-hand", metav1.GetOptions{})
	require.NoError(t, err)
}

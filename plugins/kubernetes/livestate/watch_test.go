// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

var deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}

// unstarted is a watched cluster whose informers hold what tests put in.
func unstarted(t *testing.T, mark func(string)) *watched {
	t.Helper()
	client, err := cluster.NewClient(&rest.Config{Host: "127.0.0.1:1"}, "default")
	require.NoError(t, err)
	w := watch(client, newMasker(), mark)
	t.Cleanup(w.close)
	return w
}

func (w *watched) holding(t *testing.T, key informerKey, objects ...*unstructured.Unstructured) *informer {
	t.Helper()
	i, err := w.newInformer(key)
	require.NoError(t, err)
	for _, o := range objects {
		require.NoError(t, i.shared.GetIndexer().Add(o))
	}
	w.informers[key] = i
	return i
}

func TestTheTreeHoldsWhatControllersMade(t *testing.T) {
	t.Parallel()
	var marked []string
	w := unstarted(t, func(id string) { marked = append(marked, id) })
	child := func(kind, name, owner, more string) *unstructured.Unstructured {
		return parse(t, fmt.Sprintf("{apiVersion: v1, kind: %s, metadata: {name: %s, uid: %s, ownerReferences: "+
			"[{uid: %s}]%s}}", kind, name, name, owner, more))
	}
	pod := child("Pod", "web-1-a", "web-1", "")
	retired := child("ReplicaSet", "web-0", "web", "")
	require.NoError(t, unstructured.SetNestedField(retired.Object, int64(0), "spec", "replicas"))
	set := child("ReplicaSet", "web-1", "web", "")
	require.NoError(t, unstructured.SetNestedField(set.Object, int64(1), "spec", "replicas"))
	p := placed{informers: []*informer{
		w.holding(t, informerKey{gvr: deployments},
			parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, uid: web, labels: "+
				"{pipecd.dev/application: ours}}}"),
			parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: api, uid: api, labels: "+
				"{pipecd.dev/application: ours}}}"),
			parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: other, uid: other, labels: "+
				"{pipecd.dev/application: theirs}}}"),
			// Controllers copy labels: what has an owner was not applied.
			parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: copy, uid: copy, labels: "+
				"{pipecd.dev/application: ours}, ownerReferences: [{uid: elsewhere}]}}")),
		w.holding(t, informerKey{gvr: replicaSets, namespace: "shop", children: true}, retired, set,
			child("ReplicaSet", "other-1", "other", "")),
		w.holding(t, informerKey{gvr: pods, namespace: "shop", children: true}, pod,
			child("Pod", "web-1-gone", "web-1", ", deletionTimestamp: '2026-01-01T00:00:00Z'")),
	}}
	var tree []string
	for _, o := range p.objects("ours") {
		tree = append(tree, strings.Join(append([]string{o.live.GetName()}, o.parents...), " of "))
	}
	require.Equal(t, []string{"api", "web", "web-1 of web", "web-1-a of web-1"}, tree)

	p.filter.ExcludeResources = []config.ResourceMatcher{{APIVersion: "v1", Kind: "Pod"}}
	require.Len(t, p.objects("ours"), 3, "without the pod")
	p.filter.ExcludeResources = []config.ResourceMatcher{{APIVersion: "apps/v1"}}
	require.Empty(t, p.objects("ours"), "without what is applied there is nothing below it")

	w.changed(pod)
	w.saw(informerKey{}, cache.DeletedFinalStateUnknown{Obj: set}, true)
	w.changed(child("Pod", "stray", "absent", ""))
	w.changed(parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: gone, uid: gone, labels: "+
		"{pipecd.dev/application: theirs}}}"))
	require.Equal(t, []string{"ours", "ours", "theirs"}, marked)
}

func TestTheApplicationThatLosesAnObjectIsMarked(t *testing.T) {
	t.Parallel()
	var marked []string
	w := unstarted(t, func(id string) { marked = append(marked, id) })
	of := func(version, application string) *unstructured.Unstructured {
		return parse(t, fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, uid: web, "+
			"resourceVersion: '%s', labels: {pipecd.dev/application: %s}}}", version, application))
	}
	w.sawChange(informerKey{gvr: deployments}, of("1", "former"), of("2", "renamed"))
	require.Equal(t, []string{"renamed", "former"}, marked)
	w.sawChange(informerKey{gvr: deployments}, of("2", "renamed"), of("2", "renamed"))
	require.Len(t, marked, 2, "nothing has changed")
}

func TestACopyOfAnObjectIsNotPartOfTheApplication(t *testing.T) {
	t.Parallel()
	w := unstarted(t, func(string) {})
	of := func(name string) *unstructured.Unstructured {
		return parse(t, fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: "+
			"shop, uid: %s, labels: {pipecd.dev/application: ours}, annotations: {pipecd.dev/resource-key: "+
			"'apps:Deployment:shop:web'}}}", name, name))
	}
	p := placed{informers: []*informer{w.holding(t, informerKey{gvr: deployments}, of("web"), of("web-copy"))}}
	objects := p.objects("ours")
	require.Len(t, objects, 1)
	require.Equal(t, "web", objects[0].live.GetName())
}

func TestAnApplicationIsReportedUpToABound(t *testing.T) {
	t.Parallel()
	w := unstarted(t, func(string) {})
	i := w.holding(t, informerKey{gvr: deployments})
	for n := range maxObjects + 1 {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{
				"name": fmt.Sprint(n), "uid": fmt.Sprint(n), "labels": map[string]any{"pipecd.dev/application": "ours"},
			}}}
		require.NoError(t, i.shared.GetIndexer().Add(o))
	}
	p := placed{informers: []*informer{i}}
	require.Len(t, p.objects("ours"), maxObjects)
}

func TestOwnersInACircleEnd(t *testing.T) {
	t.Parallel()
	w := unstarted(t, func(string) { t.Error("it belongs to no application") })
	a := parse(t, "{apiVersion: v1, kind: Pod, metadata: {name: a, uid: a, ownerReferences: [{uid: b}]}}")
	b := parse(t, "{apiVersion: v1, kind: Pod, metadata: {name: b, uid: b, ownerReferences: [{uid: a}]}}")
	w.holding(t, informerKey{gvr: pods, children: true}, a, b)
	w.changed(a)
}

func TestWatchesAreBounded(t *testing.T) {
	t.Parallel()
	w := unstarted(t, func(string) {})
	for n := range maxInformers {
		w.informers[informerKey{gvr: pods, namespace: fmt.Sprint(n)}] = &informer{used: time.Now(), cancel: func() {}}
	}
	_, err := w.informer(informerKey{gvr: pods, namespace: "0"})
	require.NoError(t, err)
	_, err = w.informer(informerKey{gvr: pods, namespace: "one more"})
	require.ErrorIs(t, err, errTooManyInformers)

	ended := false
	idle := informerKey{gvr: pods, namespace: "1"}
	w.informers[idle] = &informer{key: idle, cancel: func() { ended = true }}
	_, err = w.informer(informerKey{gvr: pods, namespace: "one more"})
	require.NoError(t, err, "room is made where no one has asked for long")
	require.True(t, ended)
	require.NotContains(t, w.informers, idle)
}

func TestAPodKeepsWhatItsHealthNeeds(t *testing.T) {
	t.Parallel()
	pod := parse(t, "{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {x: y}, managedFields: "+
		"[{manager: kubelet}]}, spec: {nodeName: node-1, containers: [{name: web, env: [{name: PASSWORD, value: "+
		"hunter2}]}]}, status: {phase: Succeeded}}")
	trimmed, err := (&watched{}).trimChild(pod)
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"nodeName": "node-1"}, "status": map[string]any{"phase": "Succeeded"},
	}, trimmed.(*unstructured.Unstructured).Object)
}

func TestAWatchWithoutReadersEnds(t *testing.T) {
	t.Parallel()
	w := unstarted(t, nil)
	used, idle := w.holding(t, informerKey{gvr: deployments}), w.holding(t,
		informerKey{gvr: pods, namespace: "gone", children: true})
	used.used, idle.used = time.Now().Add(-idleTime/2), time.Now().Add(-2*idleTime)
	_, err := w.informer(informerKey{gvr: replicaSets})
	require.NoError(t, err)
	require.Error(t, idle.ctx.Err())
	require.NoError(t, used.ctx.Err())
	require.Len(t, w.informers, 2)

	w.cancel()
	_, err = w.informer(informerKey{gvr: pods})
	require.Error(t, err, "nothing is begun any more")
}

func TestAnObjectIsComparedInTheVersionThatGitHas(t *testing.T) {
	t.Parallel()
	w := unstarted(t, func(string) {})
	in := func(version string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: "autoscaling", Version: version, Resource: "horizontalpodautoscalers"}
	}
	scaler := func(version, name string) *unstructured.Unstructured {
		return parse(t, fmt.Sprintf("{apiVersion: autoscaling/%s, kind: HorizontalPodAutoscaler, metadata: {name: %s, "+
			"namespace: shop, uid: %[2]s, labels: {pipecd.dev/application: ours}}}", version, name))
	}
	p := placed{places: []place{
		{manifest: manifest.Manifest{Unstructured: scaler("v1", "a")}, gvr: in("v1"), known: true},
		{manifest: manifest.Manifest{Unstructured: scaler("v2", "b")}, gvr: in("v2"), known: true},
		{manifest: manifest.Manifest{Unstructured: scaler("v2", "late")}, gvr: in("v2"), known: true},
	}, informers: []*informer{
		w.holding(t, informerKey{gvr: in("v1")}, scaler("v1", "a"), scaler("v1", "b"), scaler("v1", "late"),
			scaler("v1", "left")),
		w.holding(t, informerKey{gvr: in("v2")}, scaler("v2", "a"), scaler("v2", "b"), scaler("v2", "left")),
	}}
	var found []string
	for _, o := range p.objects("ours") {
		found = append(found, o.live.GetAPIVersion()+" "+o.live.GetName())
	}
	require.Equal(t, []string{"autoscaling/v1 a", "autoscaling/v2 b", "autoscaling/v1 late", "autoscaling/v1 left"},
		found)

	d := &drift{holder: func(place) string { return "" }, source: &stage.Source{}}
	findings, err := d.compare(t.Context(), p.places[2:], []*object{{live: scaler("v1", "late")}})
	require.NoError(t, err)
	require.Empty(t, findings, "the watch of the version that Git has will say more")
}

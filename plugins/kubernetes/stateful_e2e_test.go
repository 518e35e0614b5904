// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

const statefulYAML = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  podManagementPolicy: Parallel
  serviceName: peers
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: main, image: "db:v1", envFrom: [{secretRef: {name: login}}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: peers}
spec: {clusterIP: None, selector: {app: db}, ports: [{port: 7000}]}
---
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {user: VALUE}
`

func TestAStatefulSetHasACanaryAndABaseline(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += "}\n      workloads: [{kind: StatefulSet}]\n      variantLabel: {key: example.com/role"
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"all.yaml": strings.Replace(statefulYAML, "VALUE", "a",
		1)}}
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{"all.yaml": strings.NewReplacer("VALUE", "b", "db:v1",
		"db:v2").Replace(statefulYAML)}}
	a.succeeds("K8S_SYNC", `{"addVariantLabelToSelector": true}`, one, nil)
	log := a.succeeds("K8S_CANARY_ROLLOUT", `{"replicas": "50%"}`, two, one)
	require.Contains(t, log, "2 of 2 ready")
	a.succeeds("K8S_BASELINE_ROLLOUT", `{}`, two, one)
	a.golden("stateful-variants")
	log = a.succeeds("K8S_CANARY_CLEAN", "{}", two, one)
	require.Contains(t, log, "3 resources deleted")
	a.absent(statefulSets, "db-canary")
	a.succeeds("K8S_BASELINE_CLEAN", "{}", two, one)
	a.absent(statefulSets, "db-baseline")
	a.get(statefulSets, "db")
}

func TestARolloutByHandEndsWithoutTheOldPods(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	at := func(hash, image, strategy string) *commit {
		return &commit{Hash: hash, Files: map[string]string{"all.yaml": strings.NewReplacer("VALUE", "a", "db:v1",
			image, "  serviceName", "  updateStrategy: "+strategy+"\n  serviceName").Replace(statefulYAML)}}
	}
	const byHand, partitioned = "{type: OnDelete}", "{rollingUpdate: {partition: 2}}"
	one, two := at("aaaaaaa1", "db:v1", byHand), at("aaaaaaa2", "db:v2", byHand)
	log := a.succeeds("K8S_SYNC", "", one, nil)
	require.Contains(t, log, "StatefulSet db: 3 of 3 ready")
	require.NotContains(t, log, "keep the old version")
	log = a.succeeds("K8S_SYNC", "", two, one)
	require.Contains(t, log, "StatefulSet db: 3 of 3 pods keep the old version until someone deletes them "+
		"(updateStrategy: OnDelete)")
	keeps := func(words string) func(*livestate.GetLivestateResponse) bool {
		return func(answer *livestate.GetLivestateResponse) bool {
			return healthy(answer) && slices.ContainsFunc(answer.GetApplicationLiveState().GetResources(),
				func(r *model.ResourceState) bool {
					return r.GetName() == "db" && r.GetHealthDescription() == words &&
						r.GetResourceMetadata()["Note"] == words
				})
		}
	}
	a.becomes(two, "by hand", keeps("3 of 3 pods keep the old version until someone deletes them "+
		"(updateStrategy: OnDelete)"))
	three := at("aaaaaaa3", "db:v3", partitioned)
	log = a.succeeds("K8S_SYNC", "", three, two)
	require.Contains(t, log, "StatefulSet db: 2 of 3 pods keep the old version until the partition is lowered "+
		"(rollingUpdate.partition: 2)")
	a.becomes(three, "partition", keeps("2 of 3 pods keep the old version until the partition is lowered "+
		"(rollingUpdate.partition: 2)"))
}

func TestABrokenPodHoldsAStatefulSetUpUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	at := func(hash, image string) *commit {
		return &commit{Hash: hash, Files: map[string]string{"all.yaml": strings.NewReplacer("VALUE", "a", "db:v1",
			image, "  podManagementPolicy: Parallel\n", "").Replace(statefulYAML)}}
	}
	one, two := at("aaaaaaa1", "registry.invalid/x:1"), at("aaaaaaa2", "db:v2")
	a.fails("K8S_SYNC", "", one, nil)
	says := "pod db-0 of the old version holds the rollout up, because no pod is replaced before it is ready"
	stage := fmt.Sprintf("stage-%d", a.stages+1)
	var deleting sync.WaitGroup
	deleting.Go(func() {
		a.h.Piped.WaitLog(t, stage, says)
		assert.NoError(t, a.client.Dynamic.Resource(podsResource).Namespace(a.namespace).Delete(t.Context(), "db-0",
			metav1.DeleteOptions{}))
	})
	log := a.succeeds("K8S_SYNC", "", two, one)
	deleting.Wait()
	require.Contains(t, log, says)
	require.Contains(t, log, "StatefulSet db: 3 of 3 ready")
}

func TestARollbackOfAStatefulSetReplacesItsBrokenPods(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	at := func(hash, image string) *commit {
		return &commit{Hash: hash, Files: map[string]string{"all.yaml": strings.NewReplacer("VALUE", "a", "db:v1",
			image, "  podManagementPolicy: Parallel\n", "").Replace(statefulYAML)}}
	}
	one, two := at("aaaaaaa1", "db:v1"), at("aaaaaaa2", "registry.invalid/x:1")
	a.succeeds("K8S_SYNC", "", one, nil)
	a.nextDeployment()
	a.fails("K8S_SYNC", "", two, one)
	log := a.succeeds("K8S_ROLLBACK", "", two, one)
	require.Contains(t, log, "StatefulSet db: pod db-2 of the failed version is deleted")
	require.NotContains(t, log, "kubectl delete pod")
	require.Contains(t, log, "StatefulSet db: 3 of 3 ready")
}

func TestARollbackReplacesTheBrokenPodsThatAControllerLeaves(t *testing.T) {
	t.Parallel()
	at := func(hash, image, strategy string) *commit {
		return &commit{Hash: hash, Files: map[string]string{"all.yaml": strings.NewReplacer("VALUE", "a", "db:v1",
			image, "  podManagementPolicy: Parallel\n", "  updateStrategy: "+strategy+"\n").Replace(statefulYAML)}}
	}
	image := func(a *app, ordinal int) string {
		pod, err := a.client.Dynamic.Resource(podsResource).Namespace(a.namespace).Get(t.Context(),
			fmt.Sprintf("db-%d", ordinal), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return ""
		}
		require.NoError(t, err)
		containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
		return containers[0].(map[string]any)["image"].(string)
	}
	images := func(a *app) []string { return []string{image(a, 0), image(a, 1), image(a, 2)} }
	t.Run("from a partition on", func(t *testing.T) {
		t.Parallel()
		a := newApp(t)
		const partitioned = "{rollingUpdate: {partition: 1}}"
		one, two := at("aaaaaaa1", "db:v1", partitioned), at("aaaaaaa2", "registry.invalid/x:1", partitioned)
		a.succeeds("K8S_SYNC", "", one, nil)
		a.nextDeployment()
		a.fails("K8S_SYNC", "", two, one)
		log := a.succeeds("K8S_ROLLBACK", "", two, one)
		require.Contains(t, log, "StatefulSet db: pod db-2 of the failed version is deleted, because its controller "+
			"replaces no pod before it is ready")
		require.NotContains(t, log, "keep the old version")
		require.Equal(t, []string{"db:v1", "db:v1", "db:v1"}, images(a))
	})
	t.Run("by hand", func(t *testing.T) {
		t.Parallel()
		a := newApp(t)
		const byHand = "{type: OnDelete}"
		one, two := at("aaaaaaa1", "db:v1", byHand), at("aaaaaaa2", "registry.invalid/x:1", byHand)
		a.succeeds("K8S_SYNC", "", one, nil)
		a.nextDeployment()
		a.succeeds("K8S_SYNC", "", two, one)
		require.NoError(t, a.client.Dynamic.Resource(podsResource).Namespace(a.namespace).Delete(t.Context(), "db-2",
			metav1.DeleteOptions{}))
		a.waitUntil("the new pod is there", func() bool { return image(a, 2) == "registry.invalid/x:1" })
		log := a.succeeds("K8S_ROLLBACK", "", two, one)
		require.Contains(t, log, "StatefulSet db: pod db-2 of the failed version is deleted, because its controller "+
			"replaces no pod (updateStrategy: OnDelete)")
		require.NotContains(t, log, "keep the old version")
		require.NotContains(t, log, "OrderedReady")
		require.Equal(t, []string{"db:v1", "db:v1", "db:v1"}, images(a))
	})
}

func TestARollbackReplacesTheBrokenPodsOfADaemonSetByHand(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	agent := func(hash, image string) *commit {
		return &commit{Hash: hash, Files: map[string]string{"all.yaml": `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  updateStrategy: {type: OnDelete}
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: main, image: "` + image + `"}]}
`}}
	}
	one, two := agent("aaaaaaa1", "agent:v1"), agent("aaaaaaa2", "registry.invalid/x:1")
	a.succeeds("K8S_SYNC", "", one, nil)
	a.nextDeployment()
	a.succeeds("K8S_SYNC", "", two, one)
	pods := func() (names, images []string) {
		found, err := a.client.Dynamic.Resource(podsResource).Namespace(a.namespace).List(t.Context(),
			metav1.ListOptions{LabelSelector: "app=agent"})
		require.NoError(t, err)
		for _, pod := range found.Items {
			containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
			names = append(names, pod.GetName())
			images = append(images, containers[0].(map[string]any)["image"].(string))
		}
		return names, images
	}
	names, _ := pods()
	require.Len(t, names, 1)
	require.NoError(t, a.client.Dynamic.Resource(podsResource).Namespace(a.namespace).Delete(t.Context(), names[0],
		metav1.DeleteOptions{}))
	a.waitUntil("the new pod is there", func() bool {
		_, images := pods()
		return slices.Equal(images, []string{"registry.invalid/x:1"})
	})
	log := a.succeeds("K8S_ROLLBACK", "", two, one)
	require.Contains(t, log, "of the failed version is deleted, because its controller replaces no pod "+
		"(updateStrategy: OnDelete)")
	require.NotContains(t, log, "keep the")
	_, images := pods()
	require.Equal(t, []string{"agent:v1"}, images)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/clustertest"
)

var secrets = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

// livestate asks the plugin, against a commit.
func (a *app) livestate(c *commit) *livestate.GetLivestateResponse {
	a.t.Helper()
	answer, err := a.h.Livestate.GetLivestate(a.t.Context(), &livestate.GetLivestateRequest{
		PipedId: "piped-1", ApplicationId: a.id, ApplicationName: "demo", DeploySource: a.source(c),
		DeployTargets: []string{"local"},
	})
	require.NoError(a.t, err)
	return answer
}

// becomes waits for a live state, by what the plugin reports changes.
func (a *app) becomes(c *commit, what string,
	is func(*livestate.GetLivestateResponse) bool) *livestate.GetLivestateResponse {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Minute)
	defer cancel()
	changes := livestate.NewLivestateChangeServiceClient(a.h.Conn)
	position := &livestate.AwaitChangesRequest{}
	var answer *livestate.GetLivestateResponse
	for {
		change, err := changes.AwaitChanges(ctx, position)
		require.NoError(a.t, err, "%s: %s", what, answer)
		position.Instance, position.Position = change.GetInstance(), change.GetPosition()
		if answer = a.livestate(c); is(answer) {
			return answer
		}
		require.NoError(a.t, ctx.Err(), "%s: %s", what, answer)
	}
}

func inSync(answer *livestate.GetLivestateResponse) bool {
	return answer.GetSyncState().GetStatus() == model.ApplicationSyncStatus_SYNCED
}

func outOfSync(answer *livestate.GetLivestateResponse) bool {
	return answer.GetSyncState().GetStatus() == model.ApplicationSyncStatus_OUT_OF_SYNC
}

func healthy(answer *livestate.GetLivestateResponse) bool {
	return answer.GetApplicationLiveState().GetHealthStatus() == model.ApplicationLiveState_HEALTHY
}

// someone changes an object as a user would, through its own manager.
func (a *app) edit(gvr schema.GroupVersionResource, name, patch string, subresource ...string) {
	a.t.Helper()
	manager := "editor"
	if len(subresource) > 1 {
		manager, subresource = subresource[1], subresource[:1]
	}
	_, err := a.live().Dynamic.Resource(gvr).Namespace(a.namespace).Patch(a.t.Context(), name, types.MergePatchType,
		[]byte(patch),
		metav1.PatchOptions{FieldManager: manager}, subresource...)
	require.NoError(a.t, err)
}

// webCommit is an application in which nearly everything is defaulted or normalized by the API.
func webCommit() *commit {
	return &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"conf.yaml":    configMap("conf", "color: blue"),
		"secret.yaml":  "apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData: {password: correct horse}\n",
		"service.yaml": serviceYAML,
		"web.yaml": strings.Replace(deploymentYAML("web", "example.com/web:1", 2, ""), "image: example.com/web:1",
			"image: example.com/web:1\n          resources: {requests: {cpu: 1000m, memory: 1024Mi}}\n"+
				"          ports: [{containerPort: 8080}]", 1),
	}}
}

func TestWhatWasDeployedIsHealthyAndInSync(t *testing.T) {
	t.Parallel()
	a, c := newApp(t), webCommit()
	a.succeeds("K8S_SYNC", "", c, nil)
	answer := a.becomes(c, "healthy", func(r *livestate.GetLivestateResponse) bool { return healthy(r) && inSync(r) })
	require.Empty(t, answer.GetSyncState().GetReason())
	kinds, byID := map[string]int{}, map[string]*model.ResourceState{}
	for _, r := range answer.GetApplicationLiveState().GetResources() {
		kinds[r.GetResourceType()]++
		byID[r.GetId()] = r
		require.Equal(t, "kubernetes", r.GetPluginName())
		require.Equal(t, "local", r.GetDeployTarget())
		require.Equal(t, a.namespace, r.GetResourceMetadata()["Namespace"])
		require.Positive(t, r.GetCreatedAt())
	}
	require.Equal(t, map[string]int{"ConfigMap": 1, "Secret": 1, "Service": 1, "Deployment": 1, "ReplicaSet": 1,
		"Pod": 2}, kinds)
	for _, r := range byID {
		if r.GetResourceType() == "Pod" {
			set := byID[r.GetParentIds()[0]]
			require.Equal(t, "ReplicaSet", set.GetResourceType())
			require.Equal(t, "Deployment", byID[set.GetParentIds()[0]].GetResourceType())
		}
	}
}

func TestChangesByOthersAreDrift(t *testing.T) {
	t.Parallel()
	a, c := newApp(t), webCommit()
	a.succeeds("K8S_SYNC", "", c, nil)
	a.becomes(c, "in sync", inSync)

	a.edit(deployments, "web", `{"spec":{"replicas":3}}`, "scale", "kubectl")
	state := a.becomes(c, "scaled", outOfSync).GetSyncState()
	require.Equal(t, "Deployment "+a.namespace+"/web: spec.replicas: 2 in Git, 3 live", state.GetShortReason())
	require.True(t, strings.HasPrefix(state.GetReason(), "Diff between the defined state in Git at commit aaaaaaa"),
		state.GetReason())
	require.Contains(t, state.GetReason(), "  spec.replicas: 2 in Git, 3 live (written by kubectl)")
	a.edit(deployments, "web", `{"spec":{"replicas":2}}`, "scale", "kubectl")
	a.becomes(c, "scaled back", inSync)

	a.edit(configMaps, "conf",
		`{"data":{"color":"red","theirs":"1"},"metadata":{"annotations":{"example.com/theirs":"1"}}}`)
	state = a.becomes(c, "edited", outOfSync).GetSyncState()
	require.Equal(t, "ConfigMap "+a.namespace+`/conf: data.color: "blue" in Git, "red" live`, state.GetShortReason())
	require.NotContains(t, state.GetReason(), "theirs", "what Git does not mention belongs to others")

	a.edit(secrets, "keys", `{"stringData":{"password":"battery staple"}}`)
	state = a.becomes(c, "secret", func(r *livestate.GetLivestateResponse) bool {
		return strings.Contains(r.GetSyncState().GetReason(), "Secret")
	}).GetSyncState()
	require.Contains(t, state.GetReason(), "data.password: ****** in Git, ****** live")
	for _, secret := range []string{"horse", "staple", "YmF0dGVyeSBzdGFwbGU", "Y29ycmVjdCBob3JzZQ"} {
		require.NotContains(t, state.String(), secret)
	}

	require.NoError(t, a.live().Dynamic.Resource(services).Namespace(a.namespace).Delete(t.Context(), "web",
		metav1.DeleteOptions{}))
	a.becomes(c, "deleted", func(r *livestate.GetLivestateResponse) bool {
		return strings.Contains(r.GetSyncState().GetReason(), "Service "+a.namespace+"/web is missing in the cluster")
	})

	a.succeeds("K8S_SYNC", "", c, nil)
	a.becomes(c, "fixed", func(r *livestate.GetLivestateResponse) bool { return inSync(r) && healthy(r) })
}

func TestWhatLeftGitIsDriftUntilItIsGone(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	first := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": configMap("a", "x: y"),
		"b.yaml": configMap("b", "x: y")}}
	second := &commit{Hash: "aaaaaaa2", Files: map[string]string{"a.yaml": configMap("a", "x: y")}}
	a.succeeds("K8S_SYNC", "", first, nil)
	a.succeeds("K8S_SYNC", "", second, first)
	state := a.becomes(second, "extra", outOfSync).GetSyncState()
	require.Equal(t, "ConfigMap "+a.namespace+"/b is in the cluster, but not in Git", state.GetShortReason())
	a.succeeds("K8S_SYNC", `{"prune": true}`, second, first)
	a.becomes(second, "pruned", inSync)
}

func TestWhatLeftGitWithTheLastOfItsKindIsDriftUntilItIsGone(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	first := webCommit()
	first.Files["claim.yaml"] = claimYAML
	second := &commit{Hash: "aaaaaaa2", Files: map[string]string{"c.yaml": configMap("c", "x: y")}}
	a.succeeds("K8S_SYNC", "", first, nil)
	a.becomes(first, "in sync", inSync)
	a.succeeds("K8S_SYNC", "", second, first)
	everything := func(r *livestate.GetLivestateResponse) bool {
		reason := r.GetSyncState().GetReason()
		for _, left := range []string{"Deployment", "PersistentVolumeClaim", "Service"} {
			if !strings.Contains(reason, left+" "+a.namespace+"/") {
				return false
			}
		}
		return outOfSync(r) && strings.Contains(r.GetApplicationLiveState().String(), `"Pod"`)
	}
	state := a.becomes(second, "the rest", everything)
	require.Contains(t, state.GetSyncState().GetReason(), "PersistentVolumeClaim "+a.namespace+
		"/data is in the cluster, but not in Git")

	a.h = startPlugin(t, clustertest.Kubeconfig(t)) // it has never seen the first commit
	a.becomes(second, "the rest, by another process", everything)
	a.succeeds("K8S_SYNC", `{"prune": true}`, second, first)
	a.becomes(second, "pruned", inSync)
}

func TestAnAutoscalersReplicasAreNoDrift(t *testing.T) {
	t.Parallel()
	a, c := newApp(t), webCommit()
	a.succeeds("K8S_SYNC", "", c, nil)
	a.becomes(c, "in sync", inSync)
	// As Kubernetes' own autoscaler writes: someone else's, outside of the application.
	a.edit(deployments, "web", `{"spec":{"replicas":3}}`, "scale", "kube-controller-manager")
	scaled := func(r *livestate.GetLivestateResponse) bool {
		pods := 0
		for _, each := range r.GetApplicationLiveState().GetResources() {
			if each.GetResourceType() == "Pod" {
				pods++
			}
		}
		return pods == 3
	}
	require.True(t, inSync(a.becomes(c, "scaled", scaled)))

	c.Hash = "aaaaaaa2"
	c.Files["hpa.yaml"] = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 5
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
`
	a.succeeds("K8S_SYNC", "", c, nil)
	a.becomes(c, "in sync again", inSync)
	a.edit(deployments, "web", `{"spec":{"replicas":3}}`, "scale", "keda")
	require.True(t, inSync(a.becomes(c, "scaled again", scaled)))
}

func TestIgnoredFieldsAndObjectsAreNoDrift(t *testing.T) {
	t.Parallel()
	a, c := newApp(t), webCommit()
	a.pipeline = "  driftDetection:\n    ignoreFields:\n      - apps/v1:Deployment:" + a.namespace +
		":web#spec.template.spec.containers.0.image\n"
	a.succeeds("K8S_SYNC", "", c, nil)
	a.becomes(c, "in sync", inSync)
	a.edit(deployments, "web", `{"spec":{"replicas":3,"paused":true}}`)
	state := a.becomes(c, "replicas are not ignored", outOfSync).GetSyncState()
	require.NotContains(t, state.GetReason(), "paused", "Git does not mention it")
	a.edit(deployments, "web", `{"spec":{"replicas":2}}`)
	a.becomes(c, "fixed", inSync)
	patch := `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"example.com/web:9"}]`
	_, err := a.live().Dynamic.Resource(deployments).Namespace(a.namespace).Patch(t.Context(), "web",
		types.JSONPatchType, []byte(patch), metav1.PatchOptions{FieldManager: "editor"})
	require.NoError(t, err)
	a.edit(configMaps, "conf",
		`{"data":{"color":"red"},"metadata":{"annotations":{"pipecd.dev/ignore-drift-detection":"true"}}}`)
	// A change that counts shows that the ones before it have been seen.
	a.edit(services, "web", `{"spec":{"selector":{"app":"other"}}}`)
	state = a.becomes(c, "service", outOfSync).GetSyncState()
	require.Equal(t, "Service "+a.namespace+`/web: spec.selector.app: "web" in Git, "other" live`,
		state.GetShortReason(), state.GetReason())
}

func TestApplicationsDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	b := &app{t: t, h: a.h, client: a.client, namespace: a.namespace, id: a.id + "-other", settings: a.settings,
		created: a.created, stages: 100}
	ofA := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": configMap("a", "x: y")}}
	ofB := &commit{Hash: "bbbbbbb1", Files: map[string]string{"b.yaml": configMap("b", "x: y")}}
	a.succeeds("K8S_SYNC", "", ofA, nil)
	b.succeeds("K8S_SYNC", "", ofB, nil)
	b.becomes(ofB, "in sync", inSync)
	a.edit(configMaps, "a", `{"data":{"x":"z"}}`)
	a.becomes(ofA, "drift", outOfSync)
	answer := b.livestate(ofB)
	require.True(t, inSync(answer), answer.GetSyncState())
	require.Len(t, answer.GetApplicationLiveState().GetResources(), 1)
}

func TestWhatAnotherApplicationHasTakenIsReportedAsItsOwn(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	b := &app{t: t, h: a.h, client: a.client, namespace: a.namespace, id: a.id + "-renamed", settings: a.settings,
		created: a.created, stages: 100}
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": configMap("a", "x: y")}}
	a.succeeds("K8S_SYNC", "", c, nil)
	a.becomes(c, "in sync", func(r *livestate.GetLivestateResponse) bool { return inSync(r) && healthy(r) })

	b.succeeds("K8S_SYNC", "", &commit{Hash: "bbbbbbb1", Files: c.Files}, nil)
	answer := a.becomes(c, "taken, which the former owner hears of, too", outOfSync)
	require.Equal(t, "ConfigMap "+a.namespace+"/a belongs to the application "+b.id+", which applied it last",
		answer.GetSyncState().GetShortReason())
	resources := answer.GetApplicationLiveState().GetResources()
	require.Len(t, resources, 1)
	require.Equal(t, model.ResourceState_UNKNOWN, resources[0].GetHealthStatus())
	require.Equal(t, "belongs to the application "+b.id+", which applied it last", resources[0].GetHealthDescription())
	require.True(t, inSync(b.livestate(&commit{Hash: "bbbbbbb1", Files: c.Files})))
	a.becomes(c, "by its name, once piped has asked about it", func(r *livestate.GetLivestateResponse) bool {
		return strings.Contains(r.GetSyncState().GetShortReason(), "belongs to the application demo, which applied")
	})

	require.NoError(t, a.live().Dynamic.Resource(configMaps).Namespace(a.namespace).Delete(t.Context(), "a",
		metav1.DeleteOptions{}))
	a.becomes(c, "missing, which the former owner hears of, too", func(r *livestate.GetLivestateResponse) bool {
		return strings.Contains(r.GetSyncState().GetShortReason(), "a is missing in the cluster")
	})
}

func TestWhatBelongsToNoApplicationIsNotMissing(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": configMap("a", "x: y")}}
	a.succeeds("K8S_SYNC", "", c, nil)
	a.becomes(c, "in sync", inSync)
	a.edit(configMaps, "a", `{"metadata":{"labels":{"pipecd.dev/application":null,"pipecd.dev/managed-by":null},`+
		`"annotations":{"pipecd.dev/application":null,"pipecd.dev/managed-by":null}}}`)
	answer := a.becomes(c, "no one's", outOfSync)
	const what = "is in the cluster and belongs to no application; a sync takes it over"
	require.Equal(t, "ConfigMap "+a.namespace+"/a "+what, answer.GetSyncState().GetShortReason())
	resources := answer.GetApplicationLiveState().GetResources()
	require.Len(t, resources, 1)
	require.Equal(t, model.ResourceState_UNKNOWN, resources[0].GetHealthStatus())
	require.Equal(t, what, resources[0].GetHealthDescription())
	a.succeeds("K8S_SYNC", "", c, c)
	a.becomes(c, "taken over", func(r *livestate.GetLivestateResponse) bool { return inSync(r) && healthy(r) })
}

func TestAMissingKindIsDriftAndNotAnError(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": configMap("a", "x: y")}}
	a.succeeds("K8S_SYNC", "", c, nil)
	c.Hash = "aaaaaaa2"
	c.Files["thing.yaml"] = fmt.Sprintf("apiVersion: t%d.example.com/v1\nkind: Thing\nmetadata: {name: one}\n",
		time.Now().UnixNano())
	state := a.livestate(c).GetSyncState()
	require.Equal(t, model.ApplicationSyncStatus_OUT_OF_SYNC, state.GetStatus())
	require.Contains(t, state.GetShortReason(), "the cluster does not know")

	c.Hash = "aaaaaaa3"
	c.Files["thing.yaml"] = strings.Replace(deploymentYAML("web", "app:v1", 1, ""), "apps/v1", "apps/v2", 1)
	answer := a.livestate(c)
	require.Equal(t, "Deployment "+a.namespace+"/web is missing, and the cluster does not know apps/v2 "+
		"Deployment, only apps/v1", answer.GetSyncState().GetShortReason())
	missing := answer.GetApplicationLiveState().GetResources()[1]
	require.Equal(t, "Deployment", missing.GetResourceType())
	require.Equal(t, model.ResourceState_UNHEALTHY, missing.GetHealthStatus())
}

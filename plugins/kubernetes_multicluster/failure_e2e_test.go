// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
)

func TestAClusterThatIsAwayStopsNoOther(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "atlantis", away: true})
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": configMap("conf")}}
	log, metadata := f.fails("K8S_MULTI_SYNC", "", one, nil)
	require.Contains(t, log, "Deploy target tokyo: done")
	require.Contains(t, log, "1 of 2 deploy targets failed: deploy target atlantis: connect to the Kubernetes API "+
		"at https://127.0.0.1:")
	require.Contains(t, log, "connection refused")
	require.Equal(t, "1 of 2 deploy targets, failed: atlantis", metadata["pipecd/stage-display-metadata"])
	require.Contains(t, results(t, metadata)["atlantis"].Detail, "connect to the Kubernetes API at https://127.0.0.1:")
	f.has("tokyo", configMaps, "conf")

	log, _ = f.succeeds("K8S_MULTI_ROLLBACK", "", one, nil)
	require.Contains(t, log, "Deploy target atlantis: nothing to roll back")
	f.hasNot("tokyo", configMaps, "conf")

	log, metadata = f.succeeds("K8S_MULTI_SYNC", `{"failurePolicy": "any"}`, one, nil)
	require.Contains(t, log, "The stage succeeds nevertheless, since failurePolicy is any")
	require.Equal(t, "1 of 2 deploy targets, failed: atlantis", metadata["pipecd/stage-display-metadata"])
	f.succeeds("K8S_MULTI_SYNC", `{"failurePolicy": {"maxFailed": 1}}`, one, nil)
	log, _ = f.fails("K8S_MULTI_SYNC", `{"failurePolicy": "any", "multiTargets": ["atlantis"]}`, one, nil)
	require.Contains(t, log, "Deploy target atlantis: failed\n")
	require.Contains(t, log, "deploy target atlantis: connect to the Kubernetes API at https://127.0.0.1:")
	require.NotContains(t, log, "1 of 1")

	state, err := f.h.Livestate.GetLivestate(t.Context(), &livestate.GetLivestateRequest{
		PipedId: "piped", ApplicationId: f.id, ApplicationName: "demo", DeploySource: f.source(one),
		DeployTargets: []string{"tokyo", "atlantis"},
	})
	require.NoError(t, err)
	at := map[string]model.ResourceState_HealthStatus{}
	for _, r := range state.GetApplicationLiveState().GetResources() {
		at[r.GetDeployTarget()] = r.GetHealthStatus()
	}
	require.Equal(t, model.ResourceState_HEALTHY, at["tokyo"])
	require.Equal(t, model.ResourceState_UNKNOWN, at["atlantis"])
	require.Contains(t, state.GetSyncState().GetReason(), "The live state at atlantis is not known")
}

func TestARollbackReportsEachTarget(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "london", leaves: true})
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": configMap("conf")}}
	f.succeeds("K8S_MULTI_SYNC", "", one, nil)
	f.leaves("london")
	log, metadata := f.fails("K8S_MULTI_ROLLBACK", "", one, nil)
	require.Contains(t, log, "Deploy target tokyo: done")
	require.Contains(t, log, "1 of 2 deploy targets failed: deploy target london: connect to the Kubernetes API "+
		"at https://127.0.0.1:")
	require.Equal(t, "SUCCESS", results(t, metadata)["tokyo"].Status)
	require.Equal(t, "FAILURE", results(t, metadata)["london"].Status)
	f.hasNot("tokyo", configMaps, "conf")
	f.has("london", configMaps, "conf")
}

func TestARollbackLeavesTheFieldsForWhichATargetRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "london"})
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": configMap("conf")}}
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{
		"c.yaml": "apiVersion: v1\nkind: ConfigMap\n" +
			"metadata: {name: conf, annotations: {pipecd.dev/server-side-apply: enabled}}\ndata: {a: v2}\n",
	}}
	f.succeeds("K8S_MULTI_SYNC", "", one, nil)
	maps := f.client.Dynamic.Resource(configMaps).Namespace(f.namespace("london"))
	_, err := maps.Patch(t.Context(), "conf", types.MergePatchType, []byte(`{"data": {"a": "theirs"}}`),
		metav1.PatchOptions{FieldManager: "hand"})
	require.NoError(t, err)
	log, _ := f.fails("K8S_MULTI_SYNC", "", two, one)
	require.Contains(t, log, "data.a (of hand)")
	log, _ = f.succeeds("K8S_MULTI_ROLLBACK", "", two, one)
	require.Contains(t, log, "left as it is, because the failed deployment did not change it and other managers "+
		"have fields of it: data.a (of hand)")
	value := func(target string) string {
		a, _, _ := unstructured.NestedString(f.has(target, configMaps, "conf").Object, "data", "a")
		return a
	}
	require.Equal(t, "theirs", value("london"))
	require.Equal(t, "b", value("tokyo"))
}

func TestATargetWhoseUserMayNotDeployStopsNoOther(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "london", user: "stranger"})
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": configMap("conf")}}
	log, _ := f.fails("K8S_MULTI_SYNC", "", one, nil)
	require.Contains(t, log, "Deploy target tokyo: done")
	require.Contains(t, log, "Deploy target london: failed: ")
	require.Contains(t, log, "stranger")
	require.Contains(t, log, f.namespace("london"))
	f.has("tokyo", configMaps, "conf")
	f.succeeds("K8S_MULTI_SYNC", `{"failurePolicy": "any"}`, one, nil)
}

func TestLiveStateDriftAndPreviewAreOfAllTargets(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "london"})
	f.plugin = `{input: {multiTargets: [{target: {name: tokyo}, manifests: [tokyo]}, {target: {name: london}, ` +
		`manifests: [london]}]}}`
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"tokyo/c.yaml": configMap("conf"),
		"london/c.yaml": configMap("conf"), "london/d.yaml": configMap("more")}}
	f.succeeds("K8S_MULTI_SYNC", "", one, nil)
	look := func(c *commit) *livestate.GetLivestateResponse {
		state, err := f.h.Livestate.GetLivestate(t.Context(), &livestate.GetLivestateRequest{
			PipedId: "piped", ApplicationId: f.id, ApplicationName: "demo", DeploySource: f.source(c),
			DeployTargets: []string{"tokyo", "london"},
		})
		require.NoError(t, err)
		return state
	}
	state := look(one)
	count := map[string]int{}
	for _, r := range state.GetApplicationLiveState().GetResources() {
		count[r.GetDeployTarget()]++
	}
	require.Equal(t, map[string]int{"tokyo": 1, "london": 2}, count,
		"each target shows its own, also in the same cluster")
	require.Equal(t, model.ApplicationSyncStatus_SYNCED, state.GetSyncState().GetStatus(),
		state.GetSyncState().GetReason())

	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{"tokyo/c.yaml": configMap("conf"),
		"london/c.yaml": configMap("conf") + "---\n" + configMap("new")}}
	state = look(two)
	require.Equal(t, model.ApplicationSyncStatus_OUT_OF_SYNC, state.GetSyncState().GetStatus())
	require.Contains(t, state.GetSyncState().GetShortReason(), "london: ")
	require.NotContains(t, state.GetSyncState().GetShortReason(), "tokyo: ")

	preview, err := f.h.PlanPreview.GetPlanPreview(t.Context(), &planpreview.GetPlanPreviewRequest{
		PipedId: "piped", ApplicationId: f.id, ApplicationName: "demo", DeployTargets: []string{"tokyo", "london"},
		RunningDeploymentSource: f.source(one), TargetDeploymentSource: f.source(two),
	})
	require.NoError(t, err)
	require.Len(t, preview.GetResults(), 2)
	require.Equal(t, "tokyo", preview.GetResults()[0].GetDeployTarget())
	require.True(t, preview.GetResults()[0].GetNoChange(), preview.GetResults()[0].GetSummary())
	require.False(t, preview.GetResults()[1].GetNoChange())
	require.Contains(t, string(preview.GetResults()[1].GetDetails()), "new")
}

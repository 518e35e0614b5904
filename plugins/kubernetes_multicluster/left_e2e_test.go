// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const onlyTokyo = `{input: {failureGrace: 300ms, rolloutTimeout: 60s, multiTargets: [{target: {name: tokyo}}]}}`

// without drops all deploy targets but tokyo, and syncs that.
func without(f *fleet, one *commit) (two *commit, log string) {
	f.succeeds("K8S_MULTI_SYNC", "", one, nil)
	before := f.source(one)
	f.plugin = onlyTokyo
	two = &commit{Hash: "aaaaaaa2", Files: one.Files}
	f.h.Piped.BeginDeployment()
	status, log, _ := f.between("K8S_MULTI_SYNC", "", f.source(two), before)
	require.Equal(f.t, "STAGE_SUCCESS", status.String(), log)
	return two, log
}

func TestATargetThatIsNotDeployedToAnyMoreIsNamedUntilNothingIsLeftThere(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "london"}, fleetTarget{name: "lima"})
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": configMap("conf")}}
	two, log := without(f, one)
	left := "Deploy target london: the application is not deployed there any more, and 1 resource of it stays there: " +
		"ConfigMap " + f.namespace("london") + "/conf\nnext step: "
	require.Contains(t, log, left)
	require.Contains(t, log, "Deploy target lima: the application is not deployed there any more")

	require.NoError(t, f.client.Dynamic.Resource(configMaps).Namespace(f.namespace("lima")).Delete(t.Context(), "conf",
		metav1.DeleteOptions{}))
	three := &commit{Hash: "aaaaaaa3", Files: one.Files}
	log, _ = f.succeeds("K8S_MULTI_SYNC", "", three, two) // the running commit does not have them either
	require.Contains(t, log, left)
	require.NotContains(t, log, "Deploy target lima: the application")
	f.has("london", configMaps, "conf")

	f.plugin = "{input: {failureGrace: 300ms, rolloutTimeout: 60s}}"
	log, _ = f.succeeds("K8S_MULTI_SYNC", "", &commit{Hash: "aaaaaaa4", Files: one.Files}, three)
	require.NotContains(t, log, "any more")
}

func TestARemovalDeletesWhereTheApplicationIsNotDeployedToAnyMore(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "london", leaves: true}, fleetTarget{name: "lima"})
	one := removable()
	two, _ := without(f, one)
	f.foreign("london")
	f.nextRemoval("removal-1")
	reachable, err := os.ReadFile(f.kubeconfigs["london"])
	require.NoError(t, err)
	f.leaves("london")
	head := &commit{Hash: "aaaaaaa3", Files: map[string]string{
		"store/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: store\n" +
			"  plugins: {kubernetes_multicluster: {input: {multiTargets: [{target: {name: lima}}]}}}\n",
		"store/more.yaml": configMap("more"),
	}}
	log, _ := f.fails("K8S_MULTI_REMOVE", "", two, head)
	require.Contains(t, log, "Deploy target tokyo: done")
	require.Contains(t, log, "[lima] Removed what the application had left: 1 resource deleted")
	require.Contains(t, log, "[lima] - ConfigMap "+f.namespace("lima")+"/more: kept, because the application store")
	require.Contains(t, log, "1 of 3 deploy targets failed: deploy target london: ")
	require.NotContains(t, log, "[lima] Running")
	f.has("lima", configMaps, "more")
	f.hasNot("lima", configMaps, "conf")

	f.nextRemoval("removal-2")
	require.NoError(t, os.WriteFile(f.kubeconfigs["london"], reachable, 0o600))
	log, _ = f.succeeds("K8S_MULTI_REMOVE", "", two, head)
	require.Contains(t, log, "[london] Removed what the application had left: 2 resources deleted")
	f.isEmpty("london")
}

func TestARemovalDoesNotFailByATargetWhereTheApplicationNeverWas(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "london", away: true})
	f.plugin = onlyTokyo
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": configMap("conf")}}
	f.succeeds("K8S_MULTI_SYNC", "", one, nil)
	f.nextRemoval("removal-1")
	log, _ := f.succeeds("K8S_MULTI_REMOVE", "", one, one)
	require.Contains(t, log, "Deploy target london: it is not known whether something of the application is there: ")
	f.hasNot("tokyo", configMaps, "conf")
}

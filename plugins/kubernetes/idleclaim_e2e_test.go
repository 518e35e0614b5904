// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// unapplied are ways in which store names the claim and never applies it, with the reason.
var unapplied = map[string]struct {
	files  map[string]string
	reason string
}{
	"a hook that is skipped": {
		map[string]string{"store/data.yaml": hookedClaim("argocd.argoproj.io/hook: Skip")},
		"it is a hook there that no deployment applies (argocd.argoproj.io/hook: Skip)"},
	"a hook of tests": {
		map[string]string{"store/data.yaml": hookedClaim("helm.sh/hook: test")},
		"it is a hook there that no deployment applies (helm.sh/hook: test)"},
	"a hook of removals": {
		map[string]string{"store/data.yaml": hookedClaim("helm.sh/hook: pre-delete")},
		"it is a hook there that no deployment applies (helm.sh/hook: pre-delete)"},
	"a chart that looks it up": {
		map[string]string{
			"store/chart/Chart.yaml": "apiVersion: v2\nname: store\nversion: 0.1.0\n",
			"store/chart/templates/data.yaml": `{{ if not (lookup "v1" "PersistentVolumeClaim" .Release.Namespace ` +
				`"data") }}` + "\n" + movingClaim + "{{ end }}\n---\n" + configMap("store"),
		},
		"its chart leaves it out, as the cluster is now"},
}

func hookedClaim(annotation string) string {
	return strings.Replace(movingClaim, "{name: data}", `{name: data, annotations: {`+annotation+`}}`, 1)
}

// unappliedMove are the commits of moved, but store does not apply the claim.
func unappliedMove(p *pair, files map[string]string) (one, two *repository) {
	one, two = moved()
	delete(two.files, "store/data.yaml")
	maps.Copy(two.files, files)
	if files["store/chart/Chart.yaml"] != "" {
		two.files["store/app.pipecd.yaml"] = fmt.Sprintf("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n"+
			"  name: store\n  plugins:\n    kubernetes:\n      input: {namespace: %s, %s, waitReady: false, "+
			"helmChart: {path: chart}}\n", p.namespace, p.settings)
	}
	return one, two
}

func TestAnObjectThatAnotherApplicationNamesAndDoesNotApplyIsKeptAndSeen(t *testing.T) {
	t.Parallel()
	for name, tt := range unapplied {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			one, two := unappliedMove(p, tt.files)
			p.deploys("shop", "K8S_SYNC", one, nil)
			uid := p.uid()
			log := p.deploys("shop", "K8S_SYNC", two, one)
			require.Contains(t, log, "PersistentVolumeClaim "+p.namespace+"/data: kept, because the application store "+
				"(store/app.pipecd.yaml) names it in Git, but does not take it over: "+tt.reason+"; it stays part of "+
				"this application, which does not have it in Git")
			require.Contains(t, log, "next step: change the manifests of store (store/app.pipecd.yaml)")
			p.deploys("store", "K8S_SYNC", two, nil)
			require.Equal(t, uid, p.uid())
			require.Equal(t, p.shop, p.owner())
			shop := *p.app
			shop.id = p.shop
			shop.becomes(&commit{Hash: two.hash, Files: map[string]string{"c.yaml": two.files["shop/c.yaml"]}},
				"it is seen", func(r *livestate.GetLivestateResponse) bool {
					return strings.Contains(r.GetSyncState().GetReason(), "is in the cluster, but not in Git")
				})

			three := &repository{hash: "aaaaaaa3", files: maps.Clone(two.files)}
			delete(three.files, "store/app.pipecd.yaml")
			three.files["store/data.yaml"] = movingClaim
			p.deploys("store", "K8S_SYNC", three, two)
			require.Equal(t, uid, p.uid())
			require.Equal(t, p.store, p.owner())
		})
	}
}

func TestARemovalSaysThatNoApplicationTakesOverWhatItKeeps(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, two := unappliedMove(p, unapplied["a hook that is skipped"].files)
	two.gone = "shop"
	p.deploys("shop", "K8S_SYNC", one, nil)
	uid := p.uid()
	p.nextDeployment()
	log := p.deploys("shop", "K8S_REMOVE", one, two)
	require.Contains(t, log, "does not take it over: it is a hook there that no deployment applies "+
		"(argocd.argoproj.io/hook: Skip); it belongs to no application any more")
	require.Contains(t, log, "next step: change the manifests of store (store/app.pipecd.yaml) so that a deployment "+
		"applies it, or delete it by hand")
	require.Equal(t, uid, p.uid())
	require.Empty(t, p.owner())
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/clustertest"
)

// knows has piped say that both applications go to a deploy target.
func (p *pair) knows(target string) {
	p.t.Helper()
	p.knowsAt(target, map[string]string{"shop/app.pipecd.yaml": p.shop, "store/app.pipecd.yaml": p.store})
}

// knowsAt has piped say that applications, ids by files, go to a deploy target.
func (p *pair) knowsAt(target string, files map[string]string) {
	p.t.Helper()
	repository := p.h.Request("", "").GetInput().GetDeployment().GetGitPath().GetRepo().GetId()
	var known []map[string]any
	for file, id := range files {
		name := strings.TrimPrefix(id, p.id+"-")
		known = append(known, map[string]any{"id": id, "name": name, "repository": repository,
			"file": file, "targets": map[string][]string{"kubernetes": {target, "other"}}})
	}
	data, err := json.Marshal(known)
	require.NoError(p.t, err)
	p.h.Piped.SetSharedMetadata("pipedeck/applications", string(data))
}

// copied are two commits: store is a copy of shop, and then shop has lost the claim.
func copied() (one, two *repository) {
	one, two = moved()
	one.files["store/data.yaml"] = movingClaim
	return one, two
}

func TestWhatACopyHasInGitIsKeptWhenItGoesToTheSameTarget(t *testing.T) {
	t.Parallel()
	for target, stays := range map[string]bool{"local": true, "elsewhere": false} {
		t.Run("both at "+target, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			one, two := copied()
			p.deploys("shop", "K8S_SYNC", one, nil)
			p.deploys("store", "K8S_SYNC", one, nil)
			uid := p.uid()
			p.deploys("shop", "K8S_SYNC", one, one) // takes it back
			require.Equal(t, p.shop, p.owner())
			p.knows(target)
			log := p.deploys("shop", "K8S_SYNC", two, one)
			if !stays {
				p.absent(claims, "data")
				return
			}
			require.Equal(t, uid, p.uid(), log)
			require.Contains(t, log, "/data: kept, because the application store (store/app.pipecd.yaml) has it in Git")
			require.Empty(t, p.owner())
			p.deploys("store", "K8S_SYNC", two, one)
			require.Equal(t, uid, p.uid())
			require.Equal(t, p.store, p.owner())
		})
	}
}

func TestTheRemovalOfAnApplicationKeepsWhatItsCopyHasInGit(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, two := copied()
	two.gone = "shop"
	p.deploys("shop", "K8S_SYNC", one, nil)
	p.deploys("store", "K8S_SYNC", one, nil)
	p.deploys("shop", "K8S_SYNC", one, one)
	uid := p.uid()
	p.nextDeployment()
	p.knows("local")
	log := p.deploys("shop", "K8S_REMOVE", one, two)
	require.Equal(t, uid, p.uid(), log)
	require.Empty(t, p.get(claims, "data").GetDeletionTimestamp())
	p.absent(configMaps, "old")
}

// broken are ways in which store has the claim where no one can see it: by the files that are added to the commit.
var broken = map[string]map[string]string{
	"a base outside of its directory": {
		"base/data.yaml": movingClaim, "base/kustomization.yaml": "resources: [data.yaml]\n",
		"store/kustomization.yaml": "resources: [../base, c.yaml, nosuch.yaml]\n"},
	"a name that a kustomization composes": {
		"store/data.yaml":          movingClaim,
		"store/kustomization.yaml": "namePrefix: x-\nresources: [data.yaml, c.yaml, nosuch.yaml]\n"},
	"a file that is no YAML": {"store/broken.yaml": "a: [\n"},
	"a configuration that cannot be read": {
		"store/app.pipecd.yaml": "spec: [\n", "common/data.yaml": movingClaim},
	"options of a wrong type": {
		"store/app.pipecd.yaml": "kind: Application\nspec: {plugins: {kubernetes: {input: {manifests: 1}}}}\n"},
}

func TestDataIsLeftWhileAnApplicationOfTheRepositoryCannotBeLoaded(t *testing.T) {
	t.Parallel()
	for name, files := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			one, two := moved()
			delete(two.files, "store/data.yaml")
			maps.Copy(two.files, files)
			p.deploys("shop", "K8S_SYNC", one, nil)
			uid := p.uid()
			log := p.deploys("shop", "K8S_SYNC", two, one)
			require.Equal(t, uid, p.uid(), log)
			require.Contains(t, log, "ConfigMap "+p.namespace+"/old: deleted", "it holds no data")
			require.Contains(t, log, "/data: left, because the application store (store/app.pipecd.yaml) may have it "+
				"in Git now: that one cannot be loaded: ")
			require.Contains(t, log, "next step: correct store (store/app.pipecd.yaml) in Git")
			require.Equal(t, p.shop, p.owner(), "the marks stay")

			three := &repository{hash: "aaaaaaa3", files: map[string]string{
				"shop/c.yaml": configMap("shop"), "store/c.yaml": configMap("store")}}
			log = p.deploys("shop", "K8S_SYNC", three, two)
			require.Contains(t, log, "/data: deleted", "no application has it")
			p.absent(claims, "data")
		})
	}
}

func TestAnApplicationThatWasBrokenBeforeAndHasNotChangedHoldsNothing(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, two := moved()
	delete(two.files, "store/data.yaml")
	one.files["store/broken.yaml"], two.files["store/broken.yaml"] = "a: [\n", "a: [\n"
	p.deploys("shop", "K8S_SYNC", one, nil)
	p.deploys("shop", "K8S_SYNC", two, one)
	p.absent(claims, "data")
}

func TestARemovalFailsWhileAnApplicationThatMayHaveItsDataCannotBeLoaded(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, two := moved()
	two.gone = "shop"
	delete(two.files, "store/data.yaml")
	maps.Copy(two.files, broken["a base outside of its directory"])
	p.deploys("shop", "K8S_SYNC", one, nil)
	uid := p.uid()
	p.nextDeployment()
	remove := func(head *repository) (model.StageStatus, string) {
		return p.execute(t.Context(), clustertest.Stage{Name: "K8S_REMOVE", Options: "{}", ID: "remove-" + head.hash,
			ApplicationID: p.shop, Created: p.created, Deployment: "removal-" + head.hash,
			Target: p.at(one, "shop"), Running: p.at(head, "shop")})
	}
	status, log := remove(two)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, status, log)
	require.Equal(t, uid, p.uid(), log)
	require.Equal(t, p.shop, p.owner())
	p.absent(configMaps, "old")
	require.Contains(t, log, "1 resource left, because applications that cannot be loaded may have them in Git now: "+
		"store (store/app.pipecd.yaml)")
	three := &repository{hash: "aaaaaaa3", files: two.files, gone: "shop"}
	three.files["store/nosuch.yaml"] = configMap("nosuch")
	status, log = remove(three)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, status, log)
	require.Equal(t, uid, p.uid(), "store has it in Git: %s", log)
	require.Empty(t, p.owner())
}

func TestOtherApplicationsAreNamedWherePipedKnowsThem(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, two := moved()
	p.deploys("shop", "K8S_SYNC", one, nil)
	p.deploys("store", "K8S_SYNC", one, nil)
	p.nextDeployment()
	p.knows("local")
	log := p.storeFails(one, two)
	require.Contains(t, log, "/data: given back to the application shop, which had it before")
	require.Contains(t, log, "to undo that: pipedeck sync shop")
	log = p.deploys("store", "K8S_SYNC", two, one)
	require.Contains(t, log, "/data belonged to the application shop until now")
}

func TestAClaimThatMovesToAHookSaysHowItArrives(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, two := moved()
	p.deploys("shop", "K8S_SYNC", one, nil)
	uid := p.uid()
	p.knows("local")
	hook := strings.Replace(movingClaim, "{name: data}",
		"{name: data, annotations: {helm.sh/hook: 'pre-install,pre-upgrade'}}", 1)
	hooked := &repository{hash: two.hash, files: maps.Clone(two.files)}
	hooked.files["store/data.yaml"] = hook
	status, log := p.execute(t.Context(), clustertest.Stage{Name: "K8S_SYNC", Options: "{}", ID: "hooked",
		ApplicationID: p.store, Created: p.created, Deployment: "hooked", Target: p.at(hooked, "store")})
	require.Equal(t, model.StageStatus_STAGE_FAILURE, status, log)
	require.Contains(t, log, "exists that belongs to the application shop")
	require.Contains(t, log, "next step: to keep what the object holds, deploy it without the annotations of a hook")
	p.deploys("store", "K8S_SYNC", two, nil)
	require.Equal(t, uid, p.uid())
	require.Equal(t, p.store, p.owner())
}

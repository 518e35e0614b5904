// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/clustertest"
)

// pair is a repository with the applications shop and store, which deploy to one namespace.
type pair struct {
	*app
	shop, store string // ids
	labels      string
}

func newPair(t *testing.T) *pair {
	t.Helper()
	a := newApp(t)
	return &pair{app: a, shop: a.id + "-shop", store: a.id + "-store"}
}

// repository is a commit: its files, from the root on.
type repository struct {
	hash  string
	files map[string]string
	gone  string // an application that is not in it
}

func (p *pair) at(r *repository, name string) *common.DeploymentSource {
	p.t.Helper()
	if r == nil {
		return nil
	}
	files := maps.Clone(r.files)
	for _, each := range []string{"shop", "store"} {
		if r.gone == each {
			continue
		}
		if _, written := files[each+"/app.pipecd.yaml"]; written {
			continue
		}
		files[each+"/app.pipecd.yaml"] = p.configuration(each)
	}
	root := p.t.TempDir()
	for file, text := range files {
		path := filepath.Join(root, file)
		require.NoError(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(p.t, os.WriteFile(path, []byte(text), 0o600))
	}
	return &common.DeploymentSource{
		ApplicationDirectory: filepath.Join(root, name), CommitHash: r.hash,
		ApplicationConfigFilename: "app.pipecd.yaml", ApplicationConfig: []byte(files[name+"/app.pipecd.yaml"]),
		SharedConfigDirectory: filepath.Join(root, ".pipe"),
	}
}

// configuration is that of an application, by its name.
func (p *pair) configuration(name string) string {
	return fmt.Sprintf("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n"+
		"  name: %s\n  labels: {%s}\n  plugins:\n    kubernetes:\n"+
		"      input: {namespace: %s, %s, waitReady: false}\n", name, p.labels, p.namespace, p.settings)
}

// deploys syncs one of the applications with pruning and returns the log.
func (p *pair) deploys(name, stage string, target, running *repository) string {
	p.t.Helper()
	p.stages++
	id := p.shop
	if name == "store" {
		id = p.store
	}
	status, log := p.execute(p.t.Context(), clustertest.Stage{
		Name: stage, Options: `{"prune": true}`, ID: fmt.Sprintf("stage-%d", p.stages), ApplicationID: id,
		Created: p.created, Deployment: fmt.Sprintf("deployment-%d", p.stages),
		Target: p.at(target, name), Running: p.at(running, name),
	})
	require.Equal(p.t, model.StageStatus_STAGE_SUCCESS, status, log)
	return log
}

func (p *pair) owner() string { return p.get(claims, "data").GetLabels()["pipecd.dev/application"] }

func (p *pair) uid() string { return string(p.get(claims, "data").GetUID()) }

const movingClaim = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Mi}}
`

// moved are two commits: the volume claim is in shop first, and then in store.
func moved() (one, two *repository) {
	one = &repository{hash: "aaaaaaa1", files: map[string]string{"shop/data.yaml": movingClaim,
		"shop/c.yaml": configMap("shop"), "shop/old.yaml": configMap("old"), "store/c.yaml": configMap("store")}}
	two = &repository{hash: "aaaaaaa2", files: map[string]string{"store/data.yaml": movingClaim,
		"shop/c.yaml": configMap("shop"), "store/c.yaml": configMap("store")}}
	return one, two
}

func TestAnObjectThatMovesToAnotherApplicationIsNeverDeleted(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"K8S_SYNC", "K8S_PRIMARY_ROLLOUT"} {
		for _, order := range [][]string{{"shop", "store"}, {"store", "shop"}} {
			t.Run(stage+" of "+strings.Join(order, " before "), func(t *testing.T) {
				t.Parallel()
				p := newPair(t)
				one, two := moved()
				p.deploys("shop", "K8S_SYNC", one, nil)
				p.deploys("store", "K8S_SYNC", one, nil)
				uid := p.uid()
				require.Equal(t, p.shop, p.owner())
				log := p.deploys(order[0], stage, two, one)
				log += p.deploys(order[1], stage, two, one)
				require.Equal(t, uid, p.uid(), log)
				require.Empty(t, p.get(claims, "data").GetDeletionTimestamp())
				require.Equal(t, p.store, p.owner())
				require.Contains(t, log, "ConfigMap "+p.namespace+"/old: deleted", "what no one has is pruned")
				if order[0] == "shop" {
					require.Contains(t, log, "PersistentVolumeClaim "+p.namespace+"/data: kept, because the "+
						"application store (store/app.pipecd.yaml) has it in Git now, and takes it over when it is "+
						"deployed; it is not part of this application any more")
				}
			})
		}
	}
}

func TestAnObjectThatMovesOutlastsALaterCommitBeforeTheOtherApplicationIsDeployed(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, two := moved()
	p.deploys("shop", "K8S_SYNC", one, nil)
	uid := p.uid()
	p.deploys("shop", "K8S_SYNC", two, one)
	three := &repository{hash: "aaaaaaa3", files: maps.Clone(two.files)}
	three.files["shop/c.yaml"] = configMap("shop", "a: b")
	p.deploys("shop", "K8S_SYNC", three, two)
	require.Equal(t, uid, p.uid())
	p.deploys("store", "K8S_SYNC", three, nil)
	require.Equal(t, uid, p.uid())
	require.Equal(t, p.store, p.owner())
}

func TestAnObjectThatMovesToAnApplicationThatCannotBeLoadedIsKept(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, two := moved()
	p.deploys("shop", "K8S_SYNC", one, nil)
	uid := p.uid()
	two.files["store/broken.yaml"] = "a: [\n"
	p.deploys("shop", "K8S_SYNC", two, one)
	require.Equal(t, uid, p.uid())
}

func TestAnObjectThatAnotherApplicationHasHadBeforeIsPruned(t *testing.T) {
	t.Parallel()
	for labels, stays := range map[string]bool{"": false, "pipedeck.dev/target: elsewhere": false,
		"pipedeck.dev/target: local": true} {
		t.Run("with the labels "+labels, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			p.labels = labels
			one, two := moved()
			one.files["store/data.yaml"] = movingClaim // as the overlay for another cluster has it
			p.deploys("shop", "K8S_SYNC", one, nil)
			uid := p.uid()
			p.deploys("shop", "K8S_SYNC", two, one)
			if stays {
				require.Equal(t, uid, p.uid())
			} else {
				p.absent(claims, "data")
			}
		})
	}
}

// storeFails deploys a commit of store, which fails when the claim is applied already, and rolls it back. It returns
// the log of the rollback.
func (p *pair) storeFails(one, two *repository) string {
	p.t.Helper()
	bad := &repository{hash: two.hash, files: maps.Clone(two.files), gone: two.gone}
	bad.files["store/z.yaml"] = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: bad}\n" +
		"spec: {nonsense: 1}\n" // which is applied after the claim
	failing := clustertest.Stage{
		Name: "K8S_SYNC", Options: "{}", ID: "failing", ApplicationID: p.store, Created: time.Now(),
		Deployment: "failing", Target: p.at(bad, "store"), Running: p.at(one, "store"),
	}
	status, log := p.execute(p.t.Context(), failing)
	require.Equal(p.t, model.StageStatus_STAGE_FAILURE, status, log)
	require.Equal(p.t, p.store, p.owner(), log)
	failing.Name, failing.ID = "K8S_ROLLBACK", "rollback"
	failing.Target, failing.Running = p.at(bad, "store"), p.at(one, "store")
	status, log = p.execute(p.t.Context(), failing)
	require.Equal(p.t, model.StageStatus_STAGE_SUCCESS, status, log)
	return log
}

func TestAFailedDeploymentGivesWhatItHasTakenBack(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, two := moved()
	p.deploys("shop", "K8S_SYNC", one, nil)
	p.deploys("store", "K8S_SYNC", one, nil)
	uid := p.uid()
	p.nextDeployment()
	log := p.storeFails(one, two)
	require.Contains(t, log, "PersistentVolumeClaim "+p.namespace+"/data: given back to the application "+p.shop+
		", which had it before")
	require.Equal(t, uid, p.uid())
	require.Equal(t, p.shop, p.owner())
	require.Equal(t, p.shop, p.get(claims, "data").GetAnnotations()["pipecd.dev/application"])

	log = p.deploys("shop", "K8S_SYNC", &repository{hash: "aaaaaaa3", files: two.files}, two)
	require.Equal(t, uid, p.uid(), "store still has it in Git: %s", log)
	require.Empty(t, p.owner())
}

func TestARemovalKeepsWhatAnotherApplicationHasInGit(t *testing.T) {
	t.Parallel()
	const kept = "/data: kept, because the application store (store/app.pipecd.yaml) has it in Git now, and takes it " +
		"over when it is deployed; it is not part of this application any more"
	for name, before := range map[string]func(p *pair, one, two *repository){
		"before that one is deployed": func(*pair, *repository, *repository) {},
		"after that one has given it back": func(p *pair, one, two *repository) {
			p.storeFails(one, two)
			require.Equal(p.t, p.shop, p.owner())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			one, two := moved()
			two.gone = "shop"
			delete(two.files, "shop/c.yaml")
			p.deploys("shop", "K8S_SYNC", one, nil)
			p.deploys("store", "K8S_SYNC", one, nil)
			uid := p.uid()
			p.nextDeployment()
			before(p, one, two)
			p.nextDeployment()
			log := p.deploys("shop", "K8S_REMOVE", one, two)
			require.Contains(t, log, "PersistentVolumeClaim "+p.namespace+kept)
			require.Contains(t, log, "Removed the application: 2 resources deleted")
			p.absent(configMaps, "old")
			require.Equal(t, uid, p.uid())
			require.Empty(t, p.get(claims, "data").GetDeletionTimestamp())
			require.Empty(t, p.owner())
			p.nextDeployment()
			p.deploys("store", "K8S_SYNC", two, one)
			require.Equal(t, uid, p.uid())
			require.Equal(t, p.store, p.owner())
		})
	}
}

func TestARemovalDeletesWhatAnotherApplicationHasHadBefore(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, two := moved()
	one.files["store/data.yaml"] = movingClaim // as the overlay for another cluster has it
	two.gone = "shop"
	p.deploys("shop", "K8S_SYNC", one, nil)
	p.deploys("shop", "K8S_REMOVE", one, two)
	p.absent(claims, "data")
}

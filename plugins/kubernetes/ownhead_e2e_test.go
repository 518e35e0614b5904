// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

const (
	keptForHead = "/data: kept, because the head of the branch (commit aaaaaaa) has it in this application"
	nothingToDo = "Nothing to prune"
)

// backAgain are three commits of shop: the second one has lost the claim, and the third one has it again.
func backAgain() (one, lost, head *repository) {
	one, _ = moved()
	lost = &repository{hash: "aaaaaaa2", files: maps.Clone(one.files)}
	delete(lost.files, "shop/data.yaml")
	delete(lost.files, "shop/old.yaml")
	head = &repository{hash: "aaaaaaa3", files: maps.Clone(lost.files)}
	head.files["shop/data.yaml"] = movingClaim
	return one, lost, head
}

// TestAPruneOfAnOlderCommitKeepsWhatTheHeadHasInTheSameApplication has a commit approved late: it has lost the claim,
// which a later one has put back.
func TestAPruneOfAnOlderCommitKeepsWhatTheHeadHasInTheSameApplication(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"K8S_SYNC", "K8S_PRIMARY_ROLLOUT"} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			one, lost, head := backAgain()
			p.deploys("shop", "K8S_SYNC", one, nil)
			uid := p.uid()
			p.headIs(head)
			log := p.deploys("shop", stage, lost, one)
			require.Equal(t, uid, p.uid(), log)
			require.Empty(t, p.get(claims, "data").GetDeletionTimestamp(), log)
			require.Equal(t, p.shop, p.owner(), log)
			require.Contains(t, log, "PersistentVolumeClaim "+p.namespace+keptForHead)
			require.Contains(t, log, "Pruned 1 resource that is not in Git any more")
			p.absent(configMaps, "old")
			log = p.deploys("shop", stage, &repository{hash: "aaaaaaa4", files: lost.files}, lost)
			require.Equal(t, uid, p.uid(), log)
			require.NotContains(t, log, nothingToDo)
			log = p.deploys("shop", stage, head, lost)
			require.Equal(t, uid, p.uid(), log)
			require.Contains(t, log, nothingToDo)
		})
	}
}

// TestAPruneOfAnOlderCommitDeletesWhatTheHeadDoesNotHave has the head move by a commit of another application.
func TestAPruneOfAnOlderCommitDeletesWhatTheHeadDoesNotHave(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, lost, _ := backAgain()
	head := &repository{hash: "aaaaaaa3", files: maps.Clone(lost.files)}
	head.files["store/c.yaml"] = configMap("store", "a: b")
	p.deploys("shop", "K8S_SYNC", one, nil)
	p.headIs(head)
	log := p.deploys("shop", "K8S_SYNC", lost, one)
	require.Contains(t, log, "Pruned 2 resources that are not in Git any more")
	p.absent(claims, "data")
}

// TestAPruneOfAnOlderCommitKeepsWhatAHeadThatCannotBeLoadedMayHave keeps what may hold data, and what is named there.
func TestAPruneOfAnOlderCommitKeepsWhatAHeadThatCannotBeLoadedMayHave(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, lost, head := backAgain()
	one.files["shop/named.yaml"] = configMap("named")
	head.files["shop/broken.yaml"] = configMap("named") + "---\na: [\n"
	delete(head.files, "shop/data.yaml")
	p.deploys("shop", "K8S_SYNC", one, nil)
	uid := p.uid()
	p.headIs(head)
	log := p.deploys("shop", "K8S_SYNC", lost, one)
	require.Equal(t, uid, p.uid(), log)
	require.Contains(t, log, "PersistentVolumeClaim "+p.namespace+"/data: kept, because the head of the branch "+
		"(commit aaaaaaa) may have it in this application: its manifests cannot be loaded there: ")
	require.Contains(t, log, "next step: correct shop/app.pipecd.yaml and its manifests in Git; ")
	p.get(configMaps, "named")
	p.absent(configMaps, "old")
}

// TestARollbackKeepsWhatTheHeadHas has a deployment go back, cancelled or superseded, which has created objects.
func TestARollbackKeepsWhatTheHeadHas(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		// head changes the files of the commit that goes back.
		head func(files map[string]string)
		// known has piped say which applications it has.
		known, first bool
		// kept says that the claim stays, owner of which application it is then: "store" or none.
		kept  bool
		owner string
	}{
		"in the same application": {head: func(files map[string]string) {
			delete(files, "store/new.yaml")
		}, kept: true, owner: "store"},
		"in the same application, at its first deployment": {head: func(files map[string]string) {
			delete(files, "store/new.yaml")
		}, first: true, kept: true, owner: "store"},
		"in another application": {head: func(files map[string]string) {
			delete(files, "store/data.yaml")
			delete(files, "store/new.yaml")
			files["shop/data.yaml"] = movingClaim
		}, kept: true},
		"in another application that piped knows": {head: func(files map[string]string) {
			delete(files, "store/data.yaml")
			delete(files, "store/new.yaml")
			files["shop/data.yaml"] = movingClaim
		}, known: true, kept: true},
		"nowhere": {head: func(files map[string]string) {
			delete(files, "store/data.yaml")
			delete(files, "store/new.yaml")
		}},
		"and a commit of another application is the head": {head: func(files map[string]string) {
			files["shop/c.yaml"] = configMap("shop", "a: b")
		}},
		"and its own commit is the head": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			one := &repository{hash: "aaaaaaa1", files: map[string]string{"store/c.yaml": configMap("store"),
				"shop/c.yaml": configMap("shop")}}
			running := one
			if tt.first {
				running = nil
			} else {
				p.deploys("store", "K8S_SYNC", one, nil)
			}
			p.nextDeployment()
			if tt.known {
				p.knows("local")
			}
			bad := &repository{hash: "aaaaaaa2", files: maps.Clone(one.files)}
			bad.files["store/data.yaml"], bad.files["store/new.yaml"] = movingClaim, configMap("new")
			status, log := p.execute(t.Context(), p.storeStage("deployed", "K8S_SYNC", bad, running))
			require.Equal(t, model.StageStatus_STAGE_SUCCESS, status, log)
			uid := p.uid()
			head := bad
			if tt.head != nil {
				head = &repository{hash: "aaaaaaa3", files: maps.Clone(bad.files)}
				tt.head(head.files)
			}
			p.headIs(head)
			for range 2 { // also when piped asks for the rollback again
				log = p.rollsBack(bad, running)
				p.absent(configMaps, "new")
				if !tt.kept {
					p.absent(claims, "data")
					continue
				}
				require.Equal(t, uid, p.uid(), log)
				require.Empty(t, p.get(claims, "data").GetDeletionTimestamp(), log)
				if tt.owner == "" {
					require.Empty(t, p.owner(), log)
				} else {
					require.Contains(t, log, "PersistentVolumeClaim "+p.namespace+keptForHead)
					require.NotContains(t, log, "has created nothing")
					require.Equal(t, p.store, p.owner(), log)
				}
			}
			if tt.kept && tt.owner != "" {
				p.nextDeployment()
				p.deploys("store", "K8S_SYNC", head, running)
				require.Equal(t, uid, p.uid())
			}
		})
	}
}

// TestARollbackDeletesWhatItsDeploymentHasCreatedWhenTheHeadIsTheSameApplication has the head move by a commit of
// another application, while files of this one were filled in with secrets, or are in other directories.
func TestARollbackDeletesWhatItsDeploymentHasCreatedWhenTheHeadIsTheSameApplication(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		// raw and filled are files of the application as the head has them, and as they are deployed.
		raw, filled map[string]string
		spec        string
		// moves changes the files of the head, next to those of another application.
		moves map[string]string
		kept  bool
	}{
		"with secrets": {spec: "encryption: {encryptedSecrets: {a: x}, decryptionTargets: [./secret.yaml]}",
			raw:    map[string]string{"secret.yaml": configMap("filled", `k: "{{ .encryptedSecrets.a }}"`)},
			filled: map[string]string{"secret.yaml": configMap("filled", `k: "secret"`)}},
		"with secrets, and another file": {kept: true,
			spec:   "encryption: {encryptedSecrets: {a: x}, decryptionTargets: [secret.yaml]}",
			raw:    map[string]string{"secret.yaml": configMap("filled", `k: "{{ .encryptedSecrets.a }}"`)},
			filled: map[string]string{"secret.yaml": configMap("filled", `k: "secret"`)},
			moves:  map[string]string{"store/c.yaml": configMap("store", "a: b")}},
		"with a base": {
			raw: map[string]string{"kustomization.yaml": "resources: [../base, c.yaml, data.yaml]\n"}},
		"with a base that has changed": {kept: true,
			raw:   map[string]string{"kustomization.yaml": "resources: [../base, c.yaml, data.yaml]\n"},
			moves: map[string]string{"base/b.yaml": configMap("based", "a: b")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			one := &repository{hash: "aaaaaaa1", files: map[string]string{"store/c.yaml": configMap("store"),
				"shop/c.yaml": configMap("shop"), "base/b.yaml": configMap("based"),
				"base/kustomization.yaml": "resources: [b.yaml]\n"}}
			one.files["store/app.pipecd.yaml"] = fmt.Sprintf("apiVersion: pipecd.dev/v1beta1\nkind: Application\n"+
				"spec:\n  name: store\n  %s\n  plugins:\n    kubernetes:\n"+
				"      input: {namespace: %s, %s, waitReady: false}\n", tt.spec, p.namespace, p.settings)
			p.deploys("store", "K8S_SYNC", one, nil)
			p.nextDeployment()
			bad := &repository{hash: "aaaaaaa2", files: maps.Clone(one.files)}
			bad.files["store/data.yaml"] = movingClaim
			head := &repository{hash: "aaaaaaa3", files: maps.Clone(bad.files)}
			head.files["shop/c.yaml"] = configMap("shop", "a: b")
			for file, text := range tt.raw {
				bad.files["store/"+file], head.files["store/"+file] = text, text
			}
			for file, text := range tt.filled {
				bad.files["store/"+file] = text
			}
			maps.Copy(head.files, tt.moves)
			status, log := p.execute(t.Context(), p.storeStage("deployed", "K8S_SYNC", bad, one))
			require.Equal(t, model.StageStatus_STAGE_SUCCESS, status, log)
			uid := p.uid()
			p.headIs(head)
			log = p.rollsBack(bad, one)
			if tt.kept {
				require.Equal(t, uid, p.uid(), log)
				require.Empty(t, p.get(claims, "data").GetDeletionTimestamp(), log)
			} else {
				require.Contains(t, log, "/data: deleted")
				p.absent(claims, "data")
			}
		})
	}
}

// goesBack has piped say that a user goes back behind the newest commit, by one of its notes.
func (p *pair) goesBack(note string) {
	p.t.Helper()
	p.h.Piped.SetSharedMetadata(note, "aaaaaaa3")
}

// TestAUserWhoGoesBackKeepsTheDataOfTheHead has a user ask for an earlier commit: what the newer one has created is
// deleted, but for what holds data.
func TestAUserWhoGoesBackKeepsTheDataOfTheHead(t *testing.T) {
	t.Parallel()
	for _, note := range []string{"pipedeck/rollback-to", "pipedeck/newer-commit"} {
		t.Run(note, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			_, lost, head := backAgain()
			head.files["shop/new.yaml"] = configMap("new")
			p.deploys("shop", "K8S_SYNC", lost, nil)
			p.deploys("shop", "K8S_SYNC", head, lost)
			uid := p.uid()
			p.nextDeployment()
			p.headIs(head)
			p.goesBack(note)
			log := p.deploys("shop", "K8S_SYNC", lost, head)
			require.Equal(t, uid, p.uid(), log)
			require.Empty(t, p.get(claims, "data").GetDeletionTimestamp(), log)
			require.Equal(t, p.shop, p.owner(), log)
			require.Contains(t, log, "PersistentVolumeClaim "+p.namespace+keptForHead+
				", and its deletion may lose data\n")
			require.Contains(t, log, "next step: delete what is not needed from shop in Git, and the next deployment "+
				"with pruning deletes it; or delete it by hand: kubectl delete persistentvolumeclaim/data -n "+
				p.namespace+"\n")
			require.Contains(t, log, "Pruned 1 resource that is not in Git any more")
			p.absent(configMaps, "new")
		})
	}
}

// TestAPruneSaysThatAnotherApplicationHasAnObjectAtAnOlderCommitAlone goes back behind a commit that has moved objects
// from store to shop.
func TestAPruneSaysThatAnotherApplicationHasAnObjectAtAnOlderCommitAlone(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	old := &repository{hash: "aaaaaaa1", files: map[string]string{"shop/c.yaml": configMap("shop"),
		"store/c.yaml": configMap("store"), "store/moved.yaml": configMap("moved")}}
	head := &repository{hash: "aaaaaaa2", files: maps.Clone(old.files)}
	delete(head.files, "store/moved.yaml")
	head.files["shop/moved.yaml"] = configMap("moved")
	p.deploys("store", "K8S_SYNC", old, nil)
	p.deploys("shop", "K8S_SYNC", head, nil)
	p.nextDeployment()
	p.headIs(head)
	p.knows("local")
	p.goesBack("pipedeck/rollback-to")
	log := p.deploys("shop", "K8S_SYNC", old, head)
	require.Empty(t, p.get(configMaps, "moved").GetDeletionTimestamp(), log)
	require.Contains(t, log, "/moved: kept, because the application store (store/app.pipecd.yaml) has it in Git at "+
		"commit aaaaaaa, though not at the head of the branch, and takes it over only when such a commit is deployed; "+
		"it is not part of this application any more")
	require.NotContains(t, log, nothingToDo)
}

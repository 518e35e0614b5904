// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
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

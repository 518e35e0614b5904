// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/clustertest"
)

// headIs has piped say that a commit is the head of the branch.
func (p *pair) headIs(r *repository) {
	p.t.Helper()
	root := filepath.Dir(p.at(r, "store").GetApplicationDirectory())
	data, err := json.Marshal(map[string]string{"commit": r.hash, "directory": root})
	require.NoError(p.t, err)
	p.h.Piped.SetSharedMetadata("pipedeck/head", string(data))
}

const keptForStore = "/data: kept, because the application store (store/app.pipecd.yaml) has it in Git now, and " +
	"takes it over when it is deployed; it is not part of this application any more"

// TestAPruneOfAnOlderCommitKeepsWhatTheHeadHas has a commit approved late: it has lost the claim, which a later one has
// brought to store.
func TestAPruneOfAnOlderCommitKeepsWhatTheHeadHas(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		p := newPair(t)
		if known {
			p.knows("local")
		}
		one, head := moved()
		head.hash = "aaaaaaa3"
		lost := &repository{hash: "aaaaaaa2", files: maps.Clone(head.files)}
		delete(lost.files, "store/data.yaml")
		p.deploys("shop", "K8S_SYNC", one, nil)
		uid := p.uid()
		p.headIs(head)
		log := p.deploys("shop", "K8S_SYNC", lost, one)
		require.Equal(t, uid, p.uid(), log)
		require.Empty(t, p.get(claims, "data").GetDeletionTimestamp(), log)
		require.Contains(t, log, p.namespace+keptForStore)
		require.Contains(t, log, "Pruned 1 resource that is not in Git any more")
		p.absent(configMaps, "old")
		p.deploys("store", "K8S_SYNC", head, one)
		require.Equal(t, uid, p.uid())
		require.Equal(t, p.store, p.owner())
	}
}

// TestWhatTheApplicationHasInItsNewPlaceIsKeptAsItsOwn has a commit approved late, and one rolled back, after the
// directory of shop was renamed.
func TestWhatTheApplicationHasInItsNewPlaceIsKeptAsItsOwn(t *testing.T) {
	t.Parallel()
	for stage, moves := range map[string]string{"K8S_SYNC": "data", "K8S_ROLLBACK": "new"} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			one, _ := moved()
			two := &repository{hash: "aaaaaaa2", files: maps.Clone(one.files)}
			two.files["shop/new.yaml"] = strings.ReplaceAll(movingClaim, "name: data", "name: new")
			delete(two.files, "shop/data.yaml")
			head := &repository{hash: "aaaaaaa3", files: map[string]string{"store/c.yaml": configMap("store"),
				"renamed/moved.yaml":      strings.ReplaceAll(movingClaim, "name: data", "name: "+moves),
				"renamed/app.pipecd.yaml": p.configuration("shop")}, gone: "shop"}
			p.deploys("shop", "K8S_SYNC", one, nil)
			if stage == "K8S_ROLLBACK" {
				p.nextDeployment()
				p.deploys("shop", "K8S_PRIMARY_ROLLOUT", two, one)
			}
			uid := p.get(claims, moves).GetUID()
			p.headIs(head)
			p.knowsAt("local", map[string]string{"renamed/app.pipecd.yaml": p.shop, "store/app.pipecd.yaml": p.store})
			log := p.deploys("shop", stage, two, one)
			claim := p.get(claims, moves)
			require.Equal(t, uid, claim.GetUID(), log)
			require.Empty(t, claim.GetDeletionTimestamp(), log)
			require.Equal(t, p.shop, claim.GetLabels()["pipecd.dev/application"], log)
			require.Contains(t, log, "/"+moves+": kept, because the application has moved to renamed/app.pipecd.yaml, "+
				"which has it in Git now\n")
			require.NotContains(t, log, "not part of this application any more")
			const empty = "/data is a new claim and empty: the data of the one that was deleted does not come back\n"
			require.Equal(t, stage == "K8S_ROLLBACK", strings.Contains(log, empty), log)
		})
	}
}

// TestARemovalLooksAtTheHeadAgainWhenItsHooksHaveEnded has a commit bring the claim to store while a hook saves data.
func TestARemovalLooksAtTheHeadAgainWhenItsHooksHaveEnded(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, head := moved()
	one.files["shop/save.yaml"] = gated("save", "helm.sh/hook: pre-delete")
	head.hash, head.gone = "aaaaaaa3", "shop"
	begun := &repository{hash: "aaaaaaa2", files: maps.Clone(head.files), gone: "shop"}
	delete(begun.files, "store/data.yaml")
	p.deploys("shop", "K8S_SYNC", one, nil)
	uid := p.uid()
	p.nextDeployment()
	p.headIs(begun)
	var log string
	ended := make(chan model.StageStatus, 1)
	go func() {
		var status model.StageStatus
		status, log = p.execute(t.Context(), clustertest.Stage{
			Name: "K8S_REMOVE", Options: "{}", ID: "removal", ApplicationID: p.shop, Created: p.created,
			Deployment: "removal", Target: p.at(one, "shop"), Running: p.at(begun, "shop"),
		})
		ended <- status
	}()
	p.h.Piped.WaitLog(t, "removal", "Job "+p.namespace+"/save: created")
	p.headIs(head)
	open(p.app, "save")
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, <-ended, log)
	require.Equal(t, uid, p.uid(), log)
	require.Empty(t, p.get(claims, "data").GetDeletionTimestamp(), log)
	require.Contains(t, log, p.namespace+keptForStore)
	p.absent(configMaps, "old")
}

// TestTwoApplicationsTakeAnObjectFromEachOtherOnlyWhenBothHaveItInGit looks at what is said of that.
func TestTwoApplicationsTakeAnObjectFromEachOtherOnlyWhenBothHaveItInGit(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, both := copied()
	_, moves := moved()
	both.hash, both.files = "aaaaaaa2", one.files
	moves.hash = "aaaaaaa3"
	const twice = ": two applications that both have it in Git take it from each other with every deployment"
	p.deploys("shop", "K8S_SYNC", one, nil)
	p.knows("local")
	log := p.deploys("store", "K8S_SYNC", both, nil)
	require.Contains(t, log, "/data belonged to the application shop until now"+twice, "the head is not known")
	p.headIs(moves)
	log = p.deploys("shop", "K8S_SYNC", both, one)
	require.Contains(t, log, "/data belonged to the application store until now\n", "shop does not have it any more")
	require.NotContains(t, log, twice)
	log = p.deploys("store", "K8S_SYNC", both, one)
	require.Contains(t, log, "/data belonged to the application shop until now\n")
	p.headIs(both)
	log = p.deploys("shop", "K8S_SYNC", one, both)
	require.Contains(t, log, "/data belonged to the application store until now"+twice)
}

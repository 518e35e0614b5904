// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/clustertest"
)

// handMade is a claim like that of movingClaim, as a user creates it.
func (p *pair) handMade() {
	p.t.Helper()
	p.create(claims, `{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
		"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}}`)
}

// storeStage is a stage of a deployment of store that fails in the end.
func (p *pair) storeStage(id, name string, target, running *repository) clustertest.Stage {
	return clustertest.Stage{
		Name: name, Options: "{}", ID: id, ApplicationID: p.store, Created: p.created, Deployment: "failing",
		Target: p.at(target, "store"), Running: p.at(running, "store"),
	}
}

// rollsBack rolls the deployment of store back and returns the log.
func (p *pair) rollsBack(target, running *repository) string {
	p.t.Helper()
	status, log := p.execute(p.t.Context(), p.storeStage("rollback", "K8S_ROLLBACK", target, running))
	require.Equal(p.t, model.StageStatus_STAGE_SUCCESS, status, log)
	return log
}

// meanwhile are the ways in which a claim comes to the cluster after a deployment of store has begun and before it
// applies the claim that it has in Git, too.
var meanwhile = map[string]func(p *pair, without, with *repository){
	"a user": func(p *pair, _, _ *repository) { p.handMade() },
	"an application": func(p *pair, without, with *repository) {
		p.deploys("shop", "K8S_SYNC", with, without)
	},
	"an application that has it no more": func(p *pair, without, with *repository) {
		p.deploys("shop", "K8S_SYNC", with, without)
		p.deploys("shop", "K8S_SYNC", without, with)
	},
}

// TestARollbackKeepsWhatItsDeploymentHasNotCreated has the claim created while the deployment waits for its first wave.
func TestARollbackKeepsWhatItsDeploymentHasNotCreated(t *testing.T) {
	t.Parallel()
	for who, creates := range meanwhile {
		for _, first := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, first deployment: %t", who, first), func(t *testing.T) {
				t.Parallel()
				p := newPair(t)
				one := &repository{hash: "aaaaaaa1", files: map[string]string{"store/c.yaml": configMap("store"),
					"shop/c.yaml": configMap("shop")}}
				running := one
				if first {
					running = nil
				}
				p.deploys("shop", "K8S_SYNC", one, nil)
				if !first {
					p.deploys("store", "K8S_SYNC", one, nil)
				}
				p.nextDeployment()
				with, without, bad := p.inWaves(one)
				failing := p.storeStage("failing", "K8S_SYNC", bad, running)
				ended := make(chan model.StageStatus, 1)
				var log string
				go func() {
					var status model.StageStatus
					status, log = p.execute(t.Context(), failing)
					ended <- status
				}()
				p.h.Piped.WaitLog(t, "failing", "Waiting for 1 object of wave 0")
				creates(p, without, with)
				open(p.app, "gate")
				require.Equal(t, model.StageStatus_STAGE_FAILURE, <-ended, log)
				require.Equal(t, p.store, p.owner(), log)
				require.Contains(t, log, "ConfigMap "+p.namespace+"/new: created")
				require.NotContains(t, log, "/data: created")
				uid := p.uid()
				if who == "an application" {
					require.Contains(t, log, "/data belonged to the application "+p.shop+" until now")
				}
				log = p.rollsBack(bad, running)
				require.Contains(t, log, "ConfigMap "+p.namespace+"/new: deleted")
				require.Equal(t, uid, p.uid(), log)
				require.Empty(t, p.get(claims, "data").GetDeletionTimestamp(), log)
				if who == "an application" {
					require.Equal(t, p.shop, p.owner(), log)
					require.Contains(t, log, "/data: given back to the application "+p.shop)
				} else {
					require.Empty(t, p.owner(), log)
					require.Contains(t, log, "/data: is kept, since it was there before this deployment applied it")
				}
			})
		}
	}
}

// inWaves are commits of shop with and without the claim, and one of store that has it in a wave after a workload which
// waits for a Secret, and then fails.
func (p *pair) inWaves(one *repository) (with, without, bad *repository) {
	const later = "pipecd.dev/order: '1'"
	with = &repository{hash: "aaaaaaa2", files: maps.Clone(one.files)}
	with.files["shop/data.yaml"] = movingClaim
	bad = &repository{hash: "aaaaaaa3", files: maps.Clone(one.files)}
	bad.files["store/app.pipecd.yaml"] = fmt.Sprintf("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n"+
		"  name: store\n  plugins:\n    kubernetes:\n      input: {namespace: %s, %s}\n", p.namespace,
		strings.Replace(p.settings, "failureGrace: 300ms", "failureGrace: 60s", 1))
	bad.files["store/gate.yaml"] = strings.Replace(deploymentYAML("gate", "app:v1", 1, ""),
		"configMapRef: {name: conf, optional: true}", "secretRef: {name: gate}", 1)
	bad.files["store/data.yaml"] = strings.Replace(movingClaim, "name: data", "name: data, annotations: {"+later+"}", 1)
	bad.files["store/new.yaml"] = annotated("new", later)
	bad.files["store/z.yaml"] = "apiVersion: networking.k8s.io/v1\nkind: Ingress\n" +
		"metadata: {name: bad, annotations: {" + later + "}}\nspec: {nonsense: 1}\n"
	without = &repository{hash: "aaaaaaa4", files: maps.Clone(bad.files)}
	return with, without, bad
}

// TestARollbackKeepsWhatCameBetweenTheStages has the claim created between the canary and the primary, while a user
// approves, and piped start the plugin again in between.
func TestARollbackKeepsWhatCameBetweenTheStages(t *testing.T) {
	t.Parallel()
	for who, creates := range meanwhile {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			one := &repository{hash: "aaaaaaa1", files: map[string]string{
				"store/d.yaml": deploymentYAML("web", "app:v1", 1, ""), "shop/c.yaml": configMap("shop")}}
			p.deploys("shop", "K8S_SYNC", one, nil)
			p.deploys("store", "K8S_SYNC", one, nil)
			p.nextDeployment()
			with, _, _ := p.inWaves(one)
			bad := &repository{hash: "aaaaaaa3", files: maps.Clone(one.files)}
			bad.files["store/data.yaml"] = movingClaim
			bad.files["store/new.yaml"] = configMap("new")
			bad.files["store/z.yaml"] = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: bad}\n" +
				"spec: {nonsense: 1}\n"
			status, log := p.execute(t.Context(), p.storeStage("canary", "K8S_CANARY_ROLLOUT", bad, one))
			require.Equal(t, model.StageStatus_STAGE_SUCCESS, status, log)
			creates(p, bad, with)
			for attempt := range 2 {
				status, log = p.execute(t.Context(), p.storeStage(fmt.Sprint("primary", attempt),
					"K8S_PRIMARY_ROLLOUT", bad, one))
				require.Equal(t, model.StageStatus_STAGE_FAILURE, status, log)
				require.NotContains(t, log, "/data: created")
			}
			require.Equal(t, p.store, p.owner())
			uid := p.uid()
			log = p.rollsBack(bad, one)
			require.Contains(t, log, "ConfigMap "+p.namespace+"/new: deleted")
			require.Equal(t, uid, p.uid(), log)
			require.Empty(t, p.get(claims, "data").GetDeletionTimestamp(), log)
			if who == "an application" {
				require.Equal(t, p.shop, p.owner(), log)
			} else {
				require.Empty(t, p.owner(), log)
			}
		})
	}
}

// TestARollbackDeletesWhatAnEarlierAttemptHasCreated has the plugin end while it waits for the first wave.
func TestARollbackDeletesWhatAnEarlierAttemptHasCreated(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one := &repository{hash: "aaaaaaa1", files: map[string]string{"store/c.yaml": configMap("store")}}
	p.deploys("store", "K8S_SYNC", one, nil)
	p.nextDeployment()
	_, _, bad := p.inWaves(one)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		p.h.Piped.WaitLog(t, "killed", "Waiting for 1 object of wave 0")
	}()
	_, log := p.execute(ctx, p.storeStage("killed", "K8S_SYNC", bad, one))
	require.Contains(t, log, "Deployment "+p.namespace+"/gate: created")
	open(p.app, "gate")
	status, log := p.execute(t.Context(), p.storeStage("again", "K8S_SYNC", bad, one))
	require.Equal(t, model.StageStatus_STAGE_FAILURE, status, log)
	require.Contains(t, log, "PersistentVolumeClaim "+p.namespace+"/data: created")
	log = p.rollsBack(bad, one)
	require.Contains(t, log, "Removed 3 resources that the failed deployment created")
	p.absent(deployments, "gate")
	p.absent(claims, "data")
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package decktest

import (
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Shop is an environment with six applications, of which checkout is in the middle of Checkout.
func Shop() []proto.Message {
	real := Environment()
	real.Simulated, real.ClusterKind, real.EditHint = false, "kind", ""
	real.Clusters[0].Kind, real.Clusters[0].Simulated = "kind", false
	real.Repository = "/home/ada/src/shop"
	all := []proto.Message{real}
	for _, c := range Components() {
		all = append(all, c)
	}
	for _, p := range Plugins() {
		all = append(all, p)
	}
	app := func(name, commit string, sync deckv1.SyncStatus) *deckv1.Application {
		a := Synced()
		a.Id, a.Name, a.Path, a.RunningCommit, a.Sync, a.RunningVersions = name, name, name, commit, sync, nil
		return a
	}
	checkout := app("checkout", "3f2a1c9b0a7d", deckv1.SyncStatus_SYNC_STATUS_DEPLOYING)
	payments := app("payments", "91c04be5d2f1", deckv1.SyncStatus_SYNC_STATUS_DEPLOYING)
	checkout.Deploying, payments.Deploying = true, true
	search := app("search", "a71e0d2c4b33", deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC)
	gate, broken := Named(), NamedFailed()
	gate.Id, gate.ApplicationId, gate.ApplicationName, gate.CreatedAt = "dep-p", "payments", "payments", At(-90)
	gate.Commit.Hash, gate.Commit.Message = "91c04be5d2f1", "Charge in the customer's currency"
	broken.Id, broken.ApplicationId, broken.ApplicationName, broken.CreatedAt = "dep-s", "search", "search", At(-900)
	broken.Commit.Hash = "77aa11bb22cc"
	return append(all, checkout, payments, search,
		app("catalog", "be8b474d01aa", deckv1.SyncStatus_SYNC_STATUS_SYNCED),
		app("mail", "5f5a4120b9c8", deckv1.SyncStatus_SYNC_STATUS_SYNCED),
		app("website", "ff871296a0e4", deckv1.SyncStatus_SYNC_STATUS_SYNCED), gate, broken, Checkout())
}

// Checkout is an example deployment that forks and joins: three checks, an approval, then two regions side by side,
// which run.
func Checkout() *deckv1.Deployment {
	d := &deckv1.Deployment{
		Id: "dep-c", ApplicationId: "checkout", ApplicationName: "checkout",
		Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING, Strategy: "PIPELINE",
		Summary: "the image changed: checkout v41 -> v42",
		Commit: &deckv1.Commit{Hash: "f437ddc09b1e", Message: "Raise the timeout of the payment client",
			Author: "Ada", Branch: "main"},
		RunningCommit: "3f2a1c9b0a7d", CreatedAt: At(-60),
	}
	add := func(id, name string, needs ...string) *deckv1.Stage {
		s := &deckv1.Stage{Id: id, ConfigId: id, Name: name, Index: int32(len(d.Stages)), Requires: needs,
			Status: deckv1.StageStatus_STAGE_STATUS_NOT_STARTED}
		d.Stages = append(d.Stages, s)
		return s
	}
	ended := func(s *deckv1.Stage, from, to float64) {
		s.Status, s.StartedAt, s.CompletedAt = deckv1.StageStatus_STAGE_STATUS_SUCCESS, At(from), At(to)
	}
	running := func(s *deckv1.Stage, done int64) {
		s.Status, s.StartedAt = deckv1.StageStatus_STAGE_STATUS_RUNNING, At(16)
		s.Progress = &deckv1.StageProgress{Done: done, Total: 4, Text: "pods ready"}
	}
	ended(add("build", "SCRIPT_RUN"), -60, -36)
	ended(add("unit", "SCRIPT_RUN", "build"), -36, -5)
	ended(add("lint", "SCRIPT_RUN", "build"), -36, -34)
	ended(add("scan", "SCRIPT_RUN", "build"), -36, -18)
	approve := add("approve", "WAIT_APPROVAL", "unit", "lint", "scan")
	ended(approve, -5, 16)
	approve.Display = "Approved by: alice, bob"
	running(add("deploy-eu", "K8S_PRIMARY_ROLLOUT", "approve"), 3)
	running(add("deploy-us", "K8S_PRIMARY_ROLLOUT", "approve"), 1)
	add("verify", "SCRIPT_RUN", "deploy-eu", "deploy-us")
	for _, id := range []string{"undo-eu", "undo-us"} {
		add(id, "K8S_ROLLBACK").Rollback = true
	}
	return d
}

// CheckoutFailed is Checkout after deploy-us has failed, while its rollback runs.
func CheckoutFailed() *deckv1.Deployment {
	d := Checkout()
	d.Status = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_ROLLING_BACK
	d.StatusReason = `stage deploy-us failed: pod checkout-6f7c9-zz8rl: container main exited with status 2: panic: ` +
		`config: PAYMENT_TIMEOUT: time: invalid duration "3O s"`
	eu, us, verify, undoEU, undoUS := d.Stages[5], d.Stages[6], d.Stages[7], d.Stages[8], d.Stages[9]
	eu.Status, eu.CompletedAt, eu.Progress = deckv1.StageStatus_STAGE_STATUS_SUCCESS, At(32), nil
	us.Status, us.CompletedAt, us.Progress = deckv1.StageStatus_STAGE_STATUS_FAILURE, At(36), nil
	verify.Status = deckv1.StageStatus_STAGE_STATUS_CANCELLED
	undoEU.Status, undoEU.StartedAt = deckv1.StageStatus_STAGE_STATUS_SUCCESS, At(36)
	undoEU.CompletedAt = At(40)
	undoUS.Status, undoUS.StartedAt = deckv1.StageStatus_STAGE_STATUS_RUNNING, At(36)
	return d
}

// Rollout are lines that deploy-eu of Checkout has written.
func Rollout() []string {
	return []string{
		"Applying 3 manifests to eu-west-1",
		"Deployment default/checkout: configured",
		"Service default/checkout: unchanged",
		"Waiting for 4 pods of checkout-6f7c9, at most 5m",
		"WARN pod checkout-6f7c9-x2x4z: readiness probe: connection refused, it is tried again",
		"1 of 4 pods ready",
		"3 of 4 pods ready",
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// collectedKey is the stage metadata with the approvals so far, a JSON list. PipeCD's own key is written
// only when there are enough: a PipeCD v1 plugin that takes over takes it as the end.
// neededKey is how many there have to be.
const (
	collectedKey = "approvals"
	neededKey    = "approvals-needed"
)

// approvals are the different users who have approved a stage, in the order in which they did.
type approvals struct {
	client *sdk.StageClient
	needed int
	users  []string
}

// loadApprovals reads what earlier runs of the stage collected.
func loadApprovals(ctx context.Context, client *sdk.StageClient, needed int) (*approvals, error) {
	a := &approvals{client: client, needed: needed}
	final, found, err := client.StageMetadata(ctx, sdk.ApprovedUsersMetadataKey)
	if err != nil {
		return nil, err
	}
	if found && final != "" {
		a.users = strings.Split(final, ", ")
		a.needed = min(needed, len(a.users))
		return a, nil
	}
	collected, found, err := client.StageMetadata(ctx, collectedKey)
	if err != nil || !found {
		return a, err
	}
	if err := json.Unmarshal([]byte(collected), &a.users); err != nil {
		return nil, fmt.Errorf("stage metadata %s is %q, want a JSON list of users: %w", collectedKey, collected, err)
	}
	return a, nil
}

func (a *approvals) complete() bool { return len(a.users) >= a.needed }

func (a *approvals) String() string { return strings.Join(a.users, ", ") }

// announce shows users how many approvals there have to be, where one is not enough.
func (a *approvals) announce(ctx context.Context) error {
	if a.needed < 2 || a.complete() {
		return nil
	}
	return a.client.PutStageMetadataMulti(ctx, map[string]string{
		neededKey: strconv.Itoa(a.needed), sdk.DisplayMetadataKey: a.display(),
	})
}

func (a *approvals) display() string {
	so := fmt.Sprintf("%d of %d approved", len(a.users), a.needed)
	if len(a.users) == 0 {
		return so
	}
	return so + ": " + a.String()
}

// add stores one more approval and shows it to users unless it is the last.
func (a *approvals) add(ctx context.Context, user string) error {
	a.users = append(a.users, user)
	if a.complete() {
		return nil
	}
	collected, err := json.Marshal(a.users)
	if err != nil {
		return err
	}
	return a.client.PutStageMetadataMulti(ctx, map[string]string{
		collectedKey:           string(collected),
		sdk.DisplayMetadataKey: a.display(),
	})
}

// finish writes what PipeCD v1 writes for an approved stage.
func (a *approvals) finish(ctx context.Context) error {
	if err := a.client.PutStageMetadata(ctx, sdk.ApprovedUsersMetadataKey, a.String()); err != nil {
		return err
	}
	return a.client.PutStageMetadata(ctx, sdk.DisplayMetadataKey, "Approved by: "+a.String())
}

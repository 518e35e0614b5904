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
// usersKey is PipeCD's own.
const (
	collectedKey sdk.StageKey[[]string] = "approvals"
	neededKey                           = "approvals-needed"
	usersKey     sdk.StageKey[sdk.Text] = sdk.ApprovedUsersMetadataKey
)

// approvals are the different users who have approved a stage, in the order in which they did.
type approvals struct {
	client sdk.StageClient
	needed int
	users  []string
}

// loadApprovals reads what earlier attempts of the run have collected.
func loadApprovals(ctx context.Context, client sdk.StageClient, needed int) (*approvals, error) {
	a := &approvals{client: client, needed: needed}
	final, found, err := usersKey.Get(ctx, client)
	if err != nil {
		return nil, err
	}
	if found && final != "" {
		a.users = strings.Split(string(final), ", ")
		a.needed = min(needed, len(a.users))
		return a, nil
	}
	if a.users, _, err = collectedKey.Get(ctx, client); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *approvals) complete() bool { return len(a.users) >= a.needed }

func (a *approvals) String() string { return strings.Join(a.users, ", ") }

// renew has users see that none of the approvals of earlier runs counts, when a user has had the stage run once more.
func (a *approvals) renew(ctx context.Context) error {
	if len(a.users) > 0 {
		return nil // an earlier attempt of the same run has renewed them
	}
	return a.client.PutMetadata(ctx, sdk.OfStage, map[string]string{
		string(collectedKey): "[]", string(usersKey): "", sdk.DisplayMetadataKey: "",
	})
}

// announce shows users how many approvals there have to be, where one is not enough.
func (a *approvals) announce(ctx context.Context) error {
	if a.needed < 2 || a.complete() {
		return nil
	}
	return a.client.PutMetadata(ctx, sdk.OfStage, map[string]string{
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
	return a.client.PutMetadata(ctx, sdk.OfStage, map[string]string{
		string(collectedKey):   string(collected),
		sdk.DisplayMetadataKey: a.display(),
	})
}

// finish writes what PipeCD v1 writes for an approved stage.
func (a *approvals) finish(ctx context.Context) error {
	if err := usersKey.Put(ctx, a.client, sdk.Text(a.String())); err != nil {
		return err
	}
	return a.client.Display(ctx, "Approved by: "+a.String())
}

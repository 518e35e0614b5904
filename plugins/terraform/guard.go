// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/terraform/config"
)

// maxListed bounds the resources that a question lists.
const maxListed = 20

const (
	// approvedKey holds what users have approved that is destroyed.
	approvedKey sdk.StageKey[[]string] = "approved-destroys"
	waitingKey  sdk.StageKey[sdk.Text] = sdk.WaitingMetadataKey
	usersKey    sdk.StageKey[sdk.Text] = sdk.ApprovedUsersMetadataKey
)

// destroyed are the resources that plans destroy or replace, as "address", or "target: address" for several targets.
func destroyed(changes summaries) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		for _, address := range changes[name].Destroyed() {
			if len(changes) > 1 {
				address = name + ": " + address
			}
			list = append(list, address)
		}
	}
	return list
}

// guard returns when the resources may be destroyed: at once when there are none, or all may be.
func guard(ctx context.Context, req *executeRequest, options *config.ApplyOptions, list []string) error {
	if len(list) == 0 {
		return nil
	}
	switch options.Destroy(&req.Target.App) {
	case config.DestroyAlways:
		req.Log.Infof("Destroying %d resources, which allowDestroy: always allows", len(list))
		return nil
	case config.DestroyNever:
		return fmt.Errorf("the plan destroys %s, and allowDestroy is never\n"+
			"next step: change the configuration, or set allowDestroy: approval", listed(list))
	}
	approved, _, err := approvedKey.Get(ctx, req.Client)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(one string) bool { return !slices.Contains(approved, one) }) {
		req.Log.Info("That these resources are destroyed was approved before")
		return nil
	}
	return approval(ctx, req, options, list)
}

// approval waits until a user approves.
func approval(ctx context.Context, req *executeRequest, options *config.ApplyOptions, list []string) error {
	who := "anyone"
	if len(options.Approvers) > 0 {
		who = strings.Join(options.Approvers, ", ")
	}
	req.Log.Infof("Waiting for approval by %s, because the plan destroys %s", who, listed(list))
	if err := req.Client.Display(ctx, fmt.Sprintf("Approval: destroys %d resources", len(list))); err != nil {
		return err
	}
	if err := subjectKey.Put(ctx, req.Client, subject(list)); err != nil {
		return err
	}
	if err := waitingKey.Put(ctx, req.Client, sdk.WaitingYes); err != nil {
		return err
	}
	for command := range req.Client.Commands(ctx) {
		if command.Operation != sdk.OperationApprove {
			continue
		}
		if !options.MayApprove(command.Commander) {
			req.Log.Errorf("The approval by %s does not count: the approvers are %s", command.Commander, who)
			continue
		}
		req.Log.Successf("%s approved", command.Commander)
		if err := approvedKey.Put(ctx, req.Client, list); err != nil {
			return err
		}
		if err := waitingKey.Put(ctx, req.Client, sdk.WaitingNo); err != nil {
			return err
		}
		return usersKey.Put(ctx, req.Client, sdk.Text(command.Commander))
	}
	return sdk.StopCause(ctx)
}

// listed names resources.
func listed(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	text := fmt.Sprintf("%d resources:\n  %s", len(list), strings.Join(list[:min(len(list), maxListed)], "\n  "))
	if more := len(list) - maxListed; more > 0 {
		text += fmt.Sprintf("\n  and %d more", more)
	}
	return text
}

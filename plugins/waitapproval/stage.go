// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

const stageWaitApproval = "WAIT_APPROVAL"

// options are a WAIT_APPROVAL stage's "with".
type options struct {
	// Approvers are the users who may approve. Default: everyone. PipeCD's own plugin wants at least one.
	Approvers []string `json:"approvers" jsonschema:"minLength=1"`
	// MinApproverNum is the number of users who have to approve. Default 1.
	MinApproverNum *int `json:"minApproverNum" jsonschema:"minimum=1,default=1"`
}

// ExtendSchema says that each approver can approve once.
func (options) ExtendSchema(schema map[string]any) {
	schema["atMostEntries"] = map[string]any{"minApproverNum": "approvers"}
}

// needed is how many different users have to approve.
func (o *options) needed() int {
	if o.MinApproverNum == nil {
		return 1
	}
	return *o.MinApproverNum
}

// Validate refuses a number that cannot be reached.
func (o *options) Validate() error {
	if o.needed() < 1 {
		return fmt.Errorf("minApproverNum is %d, it has to be at least 1", o.needed())
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(o.Approvers)))
	if slices.Contains(distinct, "") {
		return fmt.Errorf("approvers holds an empty name")
	}
	if len(distinct) > 0 && o.needed() > len(distinct) {
		return fmt.Errorf("minApproverNum is %d but approvers names only %d, so the stage could never be approved",
			o.needed(), len(distinct))
	}
	return nil
}

func (o *options) mayApprove(user string) bool {
	return len(o.Approvers) == 0 || slices.Contains(o.Approvers, user)
}

type plugin struct{}

var (
	_ sdk.StagePlugin[sdk.None] = plugin{}
	_ sdk.SourceUser            = plugin{}
)

// Stages names the one stage.
func (plugin) Stages() []string { return []string{stageWaitApproval} }

// Sources: an approval inspects no file.
func (plugin) Sources(string) sdk.Sources { return sdk.NoSources }

// BuildPipelineStages has the stages offer approval to the approvers.
func (plugin) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[sdk.None]) ([]sdk.Stage, error) {
	stages := sdk.CopyStages(req.Stages)
	for i, configured := range req.Stages {
		opts, err := sdk.DecodeOptions[options](configured.Options)
		if err != nil {
			return nil, fmt.Errorf("stage %d (%s): %w", configured.Index, configured.Name, err)
		}
		stages[i].Operation = sdk.OperationApprove
		stages[i].Operators = opts.Approvers
	}
	return stages, nil
}

// ExecuteStage returns when enough users have approved, in this attempt or in earlier ones of the run.
func (plugin) ExecuteStage(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
	opts, err := sdk.DecodeOptions[options](req.Options)
	if err != nil {
		return sdk.Failure, err
	}
	approvals, err := loadApprovals(ctx, req.Client, opts.needed())
	if err != nil {
		return sdk.Failure, err
	}
	if req.Stage.Run > 0 {
		if err := approvals.renew(ctx); err != nil {
			return sdk.Failure, err
		}
	}
	req.Log.Info(greeting(&opts, approvals))
	if err := approvals.announce(ctx); err != nil {
		return sdk.Failure, err
	}

	commands := req.Client.Commands(ctx)
	for !approvals.complete() {
		select {
		case command, ok := <-commands:
			if !ok {
				return sdk.Failure, sdk.StopCause(ctx)
			}
			if command.Operation != sdk.OperationApprove || !counts(req.Log, &opts, approvals, command.Commander) {
				continue
			}
			if err := approvals.add(ctx, command.Commander); err != nil {
				return sdk.Failure, err
			}
			req.Log.Infof("%s approved (%d of %d)", command.Commander, len(approvals.users), approvals.needed)
		case <-ctx.Done():
			return sdk.Failure, sdk.StopCause(ctx)
		}
	}
	if err := approvals.finish(ctx); err != nil {
		return sdk.Failure, err
	}
	req.Log.Successf("Approved by %s", approvals)
	return sdk.Success, nil
}

func greeting(opts *options, approvals *approvals) string {
	who := "anyone"
	if len(opts.Approvers) > 0 {
		who = strings.Join(opts.Approvers, ", ")
	}
	if len(approvals.users) > 0 {
		return fmt.Sprintf("Going on with the approvals of %s; %d needed from %s", approvals, approvals.needed, who)
	}
	return fmt.Sprintf("Waiting for approval: %d needed from %s", approvals.needed, who)
}

// counts is whether an approval by user brings the stage on; the log says why not.
func counts(log sdk.StageLog, opts *options, approvals *approvals, user string) bool {
	switch {
	case !opts.mayApprove(user):
		log.Errorf("The approval by %s does not count: the approvers are %s", user, strings.Join(opts.Approvers, ", "))
		return false
	case slices.Contains(approvals.users, user):
		log.Infof("%s has approved already; another user has to", user)
		return false
	}
	return true
}

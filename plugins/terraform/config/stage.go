// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"slices"
)

// The stages.
const (
	StagePlan     = "TERRAFORM_PLAN"
	StageApply    = "TERRAFORM_APPLY"
	StageRollback = "TERRAFORM_ROLLBACK"
)

// PlanOptions are the "with" of TERRAFORM_PLAN.
type PlanOptions struct {
	// ExitOnNoChanges ends the deployment when the plan is empty. Default false.
	ExitOnNoChanges bool `json:"exitOnNoChanges" jsonschema:"default=false"`
}

// ApplyOptions are the "with" of TERRAFORM_APPLY.
type ApplyOptions struct {
	// AllowDestroy is whether resources may be destroyed: never, after an approval, or always. Default: that of the
	// application.
	AllowDestroy string `json:"allowDestroy" jsonschema:"enum=never,enum=approval,enum=always"`
	// Approvers are the users who may approve that resources are destroyed. Default: everyone.
	Approvers []string `json:"approvers" jsonschema:"minLength=1"`
}

// Validate refuses values that do not exist.
func (o *ApplyOptions) Validate() error { return checkDestroy(o.AllowDestroy) }

// Destroy is whether the stage may destroy resources, with the default.
func (o *ApplyOptions) Destroy(app *Application) string {
	return cmp.Or(o.AllowDestroy, app.AllowDestroy, DestroyApproval)
}

// MayApprove is whether an approval by the user counts.
func (o *ApplyOptions) MayApprove(user string) bool {
	return len(o.Approvers) == 0 || slices.Contains(o.Approvers, user)
}

// StageOptions are the types of the options of stages that a pipeline may hold.
func StageOptions() map[string]any {
	return map[string]any{StagePlan: PlanOptions{}, StageApply: ApplyOptions{}}
}

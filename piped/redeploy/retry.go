// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package redeploy

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/pipedeck/pipedeck/api/model"
)

// causeKey is the metadata with the cause of a failed stage, which its plugin has noted.
const causeKey = "pipedeck/cause"

// passing are the kinds of causes that may pass by themselves. Nothing is wrong with the application then.
var passing = []string{"TEMPORARY", "UNREACHABLE"}

// Passing reports whether a deployment has failed for causes that may pass: each stage that has failed has such a
// cause. A deployment without a plan has none.
func Passing(d *model.Deployment) bool {
	if d.GetStatus() != model.DeploymentStatus_DEPLOYMENT_FAILURE {
		return false
	}
	failed := false
	for _, stage := range d.GetStages() {
		if stage.GetRollback() || stage.GetStatus() != model.StageStatus_STAGE_FAILURE {
			continue
		}
		var cause struct{ Kind string }
		err := json.Unmarshal([]byte(stage.GetMetadata()[causeKey]), &cause)
		if err != nil || !slices.Contains(passing, cause.Kind) {
			return false
		}
		failed = true
	}
	return failed
}

// Next returns the request to retry a deployment, which is a retry itself or not, and false when that was the last
// one of the limit.
func Next(d *model.Deployment, limit int) (Request, bool) {
	notes := d.GetMetadataV2().GetShared().GetKeyValues()
	next := Request{Commit: d.GetTrigger().GetCommit().GetHash(), RetryOf: d.GetId(), Number: 1, Limit: limit}
	if before, err := strconv.Atoi(notes[numberKey]); err == nil && before > 0 {
		next.RetryOf, next.Number = notes[retryKey], before+1
	}
	return next, next.Number <= limit
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"encoding/json"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pipedeck/pipedeck/api/model"
)

// planningWaitKey is the metadata in which our piped says which plugin the planning of a deployment waits for.
const planningWaitKey = "pipedeck/planning-wait"

// planningWait is the plugin that a plan waits for, and since when; empty for none, and for what cannot be read.
func planningWait(d *model.Deployment) (plugin string, since *timestamppb.Timestamp) {
	note := d.GetMetadataV2().GetShared().GetKeyValues()[planningWaitKey]
	if note == "" || d.GetStatus() != model.DeploymentStatus_DEPLOYMENT_PENDING {
		return "", nil
	}
	var wait struct {
		Plugin string
		Since  int64
	}
	if json.Unmarshal([]byte(note), &wait) != nil || wait.Plugin == "" {
		return "", nil
	}
	return oneLine(wait.Plugin), timestamppb.New(time.UnixMilli(wait.Since))
}

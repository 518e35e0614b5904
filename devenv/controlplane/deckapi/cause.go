// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"encoding/json"
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// causeKey is the metadata of stages of plugins of our SDK that failed, and of deployments of our piped that got no
// plan, with what the environment lacks for them.
const causeKey = "pipedeck/cause"

// causes are the kinds that the deck API has.
var causes = []string{"NO_PLUGIN", "NO_CRD", "UNREACHABLE", "FOREIGN_KEY", "NO_PROGRAM"}

// cause is nil when nothing is known to be lacking. Anything that is not a cause counts as if it was not there.
func cause(text string) *deckv1.Cause {
	var reported struct{ Kind, Place string }
	if text == "" || len(text) > maxReport || json.Unmarshal([]byte(text), &reported) != nil ||
		!slices.Contains(causes, reported.Kind) {
		return nil
	}
	return &deckv1.Cause{Kind: reported.Kind, Place: oneLine(reported.Place)}
}

// causeOfStage is nil for a stage that has not failed: an earlier attempt may have left one.
func causeOfStage(s *model.PipelineStage) *deckv1.Cause {
	if s.GetStatus() != model.StageStatus_STAGE_FAILURE {
		return nil
	}
	return cause(s.GetMetadata()[causeKey])
}

// causeOfDeployment is nil for a deployment that has not failed.
func causeOfDeployment(d *model.Deployment) *deckv1.Cause {
	if d.GetStatus() != model.DeploymentStatus_DEPLOYMENT_FAILURE {
		return nil
	}
	return cause(d.GetMetadataV2().GetShared().GetKeyValues()[causeKey])
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

// said is what the plugin of stage s has said about it.
type said map[string]string

func (s said) Metadata(string) (*model.DeploymentMetadata, map[string]map[string]string) {
	return nil, map[string]map[string]string{"s": s}
}

// A newer commit must not end a deployment whose stage works, only because the stage may come to ask for an approval.
func TestAStageThatSaysWhenItWaitsIsEndedByANewerCommitOnlyThen(t *testing.T) {
	t.Parallel()
	metadata := said{}
	stage := &model.PipelineStage{Id: "s", AvailableOperation: model.ManualOperation_MANUAL_OPERATION_APPROVE,
		Metadata: map[string]string{waitingMetadataKey: "no"}}
	e := &executor{options: &Options{Metadata: metadata}, progress: &progress{deployment: &model.Deployment{}}}
	w := &walk{executor: e, cancellation: &Cancellation{}, stages: []*model.PipelineStage{stage}, running: 1,
		begun: map[string]bool{"s": true}, reported: map[string]bool{}}
	w.cancellation.waitsWhile(w.onlyWaits())
	newer := &CancelledError{}
	w.cancellation.Offer(newer)
	require.Nil(t, w.cancellation.by())
	metadata[waitingMetadataKey] = "no"
	w.cancellation.Offer(newer)
	require.Nil(t, w.cancellation.by())
	metadata[waitingMetadataKey] = "yes"
	w.cancellation.Offer(newer)
	require.Same(t, newer, w.cancellation.by())
}

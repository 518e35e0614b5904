// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// rollbackChoice is the decision of a user who cancels a deployment: with a rollback, without one, or empty when the
// application decides.
type rollbackChoice string

const (
	choiceRollback   rollbackChoice = "rollback"
	choiceNoRollback rollbackChoice = "no-rollback"
)

// choiceMetadataKey is the shared metadata of a deployment that holds the choice, for the next piped when this one
// dies before the rollback begins.
const choiceMetadataKey = "pipedeck/cancelled-with"

func (e *CancelledError) choice() rollbackChoice {
	switch {
	case e.Rollback:
		return choiceRollback
	case e.NoRollback:
		return choiceNoRollback
	default:
		return ""
	}
}

// choiceOf is the choice of the user who cancelled the deployment here, or else under an earlier piped.
func choiceOf(cancellation *Cancellation, d *model.Deployment) rollbackChoice {
	if by := cancellation.by(); by != nil && by.choice() != "" {
		return by.choice()
	}
	return rollbackChoice(d.GetMetadataV2().GetShared().GetKeyValues()[choiceMetadataKey])
}

// saveChoice records the user's choice, if there is one. It is called before a stage is recorded as cancelled, from
// where on the next piped would decide about the rollback.
func (r *reports) saveChoice(ctx context.Context, by *CancelledError) {
	if by == nil || by.choice() == "" {
		return
	}
	logger := r.logger.With("deployment", r.progress.id())
	request := &pipedservice.SaveDeploymentSharedMetadataRequest{
		DeploymentId: r.progress.id(), Metadata: map[string]string{choiceMetadataKey: string(by.choice())},
	}
	err := r.persist(ctx, logger, func(ctx context.Context) error {
		_, err := r.controlPlane.SaveDeploymentSharedMetadata(ctx, request)
		return err
	})
	if err != nil && ctx.Err() == nil {
		logger.Error(
			"cannot save the user's choice about the rollback; it is lost if piped ends before the rollback begins",
			"error", err,
		)
	}
}

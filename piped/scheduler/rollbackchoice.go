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

// notes returns what the next piped has to know of a cancellation.
func (e *CancelledError) notes() map[string]string {
	switch {
	case e == nil:
		return nil
	case e.superseded():
		return e.By.Notes()
	case e.choice() != "":
		return map[string]string{choiceMetadataKey: string(e.choice())}
	default:
		return nil
	}
}

// saveCancellation records who has ended the deployment, as far as the next piped has to know it. It is called before
// a stage is recorded as cancelled, from where on the next piped would decide about the rollback, and before the end.
// What is recorded already is not recorded again.
func (r *reports) saveCancellation(ctx context.Context, by *CancelledError) {
	notes := by.notes()
	if len(notes) == 0 || r.saved.Swap(by) == by {
		return
	}
	logger := r.logger.With("deployment", r.progress.id())
	request := &pipedservice.SaveDeploymentSharedMetadataRequest{DeploymentId: r.progress.id(), Metadata: notes}
	err := r.persist(ctx, logger, func(ctx context.Context) error {
		_, err := r.controlPlane.SaveDeploymentSharedMetadata(ctx, request)
		return err
	})
	if err != nil && ctx.Err() == nil {
		logger.Error(
			"cannot save why the deployment is cancelled; it is lost if piped ends before the rollback begins",
			"error", err,
		)
	}
}

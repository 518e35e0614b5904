// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"time"

	"github.com/google/uuid"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
)

// Due says whether a commit would be deployed by itself, and why; see dueOnCommit. It is for plan previews, which must
// not decide otherwise than the Trigger.
func Due(
	rule config.OnCommit, dir, previous, head string, changed func() ([]string, error),
) (reason string, due bool, err error) {
	return dueOnCommit(rule, dir, previous, head, changed)
}

// Draft is the deployment that a commit would be given. Nothing is created.
func Draft(
	a *model.Application, application *config.Application, mirror *git.Repository, head git.Commit,
	projectID, pipedID string, now time.Time,
) (*model.Deployment, error) {
	return newDeployment(
		a, application, mirror.Branch(), mirror.Remote(), head, cause{kind: onCommit, id: uuid.NewString()}, projectID,
		pipedID, now,
	)
}

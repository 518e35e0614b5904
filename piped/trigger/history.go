// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/redeploy"
)

// history knows the commit and the deployment that were triggered last for each application. What this piped does not
// remember it asks from the control plane.
type history struct {
	controlPlane pipedservice.PipedServiceClient
	logger       *slog.Logger

	commits *memory                      // looked at last, by application
	newest  map[string]string            // ids of deployments created here, by application
	open    map[string]*model.Deployment // found at the start, by application; nil before that
}

func newHistory(controlPlane pipedservice.PipedServiceClient, logger *slog.Logger) *history {
	return &history{
		controlPlane: controlPlane, logger: logger, commits: newMemory(maxCommits), newest: map[string]string{},
	}
}

// looked notes that the commit was looked at, and calls for no deployment.
func (h *history) looked(a *model.Application, commit string) { h.commits.put(a.GetId(), commit) }

// created notes the new deployment of an application and the commit that was looked at for it, and makes the control
// plane remember the deployment too.
func (h *history) created(ctx context.Context, a *model.Application, d *model.Deployment, looked string) {
	h.commits.put(a.GetId(), looked)
	h.newest[a.GetId()] = d.GetId()
	h.reportNewest(ctx, d)
}

// keep forgets all applications but those that exist: one that comes back may have been removed.
func (h *history) keep(exists func(application string) bool) {
	h.commits.keep(exists)
	maps.DeleteFunc(h.newest, func(application, _ string) bool { return !exists(application) })
}

// deployed returns the commit that was deployed last with success, or else the last one of all; empty when the
// application was never deployed.
func (h *history) deployed(ctx context.Context, a *model.Application) (commit string, err error) {
	for _, with := range []model.DeploymentStatus{
		model.DeploymentStatus_DEPLOYMENT_SUCCESS,
		model.DeploymentStatus_DEPLOYMENT_PENDING, // PipeCD v1: of any status
	} {
		answer, err := h.controlPlane.GetApplicationMostRecentDeployment(
			ctx, &pipedservice.GetApplicationMostRecentDeploymentRequest{ApplicationId: a.GetId(), Status: with},
		)
		switch {
		case err == nil:
			return answer.GetDeployment().GetTrigger().GetCommit().GetHash(), nil
		case status.Code(err) != codes.NotFound:
			return "", fmt.Errorf("ask for the last deployment of application %s: %w", a.GetName(), err)
		}
	}
	return "", nil
}

// previous returns the commit that was looked at last for the application; empty when it was never deployed.
func (h *history) previous(ctx context.Context, a *model.Application) (string, error) {
	if commit, known := h.commits.get(a.GetId()); known {
		return commit, nil
	}
	if err := h.listOpen(ctx); err != nil {
		return "", err
	}
	var newest *model.ApplicationDeploymentReference
	answer, err := h.controlPlane.GetApplicationMostRecentDeployment(
		ctx,
		&pipedservice.GetApplicationMostRecentDeploymentRequest{
			ApplicationId: a.GetId(), Status: model.DeploymentStatus_DEPLOYMENT_PENDING,
		},
	)
	switch {
	case err == nil:
		newest = answer.GetDeployment()
	case status.Code(err) != codes.NotFound:
		return "", fmt.Errorf("ask for the last deployment of application %s: %w", a.GetName(), err)
	}
	d := h.open[a.GetId()]
	if d.GetTrigger().GetTimestamp() > newest.GetTrigger().GetTimestamp() {
		// A piped that was killed after creating a deployment had no time to report it.
		h.reportNewest(ctx, d)
	} else if d, err = redeploy.Find(ctx, h.controlPlane, newest); err != nil {
		return "", err
	}
	delete(h.open, a.GetId())
	trigger := newest.GetTrigger()
	if d != nil {
		trigger = d.GetTrigger()
	}
	return cmp.Or(redeploy.NewerCommit(d), trigger.GetCommit().GetHash()), nil
}

// listOpen fetches, once, the newest deployment under way for each application.
func (h *history) listOpen(ctx context.Context) error {
	if h.open != nil {
		return nil
	}
	deployments, err := controlplane.OpenDeployments(ctx, h.controlPlane)
	if err != nil {
		return fmt.Errorf("list the deployments under way: %w", err)
	}
	open := map[string]*model.Deployment{}
	for _, d := range deployments {
		if d.GetTrigger().GetTimestamp() > open[d.GetApplicationId()].GetTrigger().GetTimestamp() {
			open[d.GetApplicationId()] = d
		}
	}
	h.open = open
	return nil
}

// lastID is the id of the deployment that was triggered last; empty when there was none.
func (h *history) lastID(a *model.Application) string {
	return cmp.Or(h.newest[a.GetId()], a.GetMostRecentlyTriggeredDeployment().GetDeploymentId())
}

// lastDeployment returns the deployment that was triggered last; nil when there was none.
func (h *history) lastDeployment(ctx context.Context, a *model.Application) (*model.Deployment, error) {
	id := h.lastID(a)
	if id == "" {
		return nil, nil
	}
	answer, err := h.controlPlane.GetDeployment(ctx, &pipedservice.GetDeploymentRequest{Id: id})
	if status.Code(err) == codes.NotFound {
		return nil, nil // the control plane has forgotten it
	}
	if err != nil {
		return nil, fmt.Errorf("ask for the last deployment of application %s: %w", a.GetName(), err)
	}
	return answer.GetDeployment(), nil
}

// reportNewest makes the control plane remember the deployment as the application's newest. A failure
// only matters to the next piped, which then finds the deployment itself.
func (h *history) reportNewest(ctx context.Context, d *model.Deployment) {
	_, err := h.controlPlane.ReportApplicationMostRecentDeployment(
		ctx,
		&pipedservice.ReportApplicationMostRecentDeploymentRequest{
			ApplicationId: d.GetApplicationId(),
			Status:        model.DeploymentStatus_DEPLOYMENT_PENDING,
			Deployment: &model.ApplicationDeploymentReference{
				DeploymentId: d.GetId(), Trigger: d.GetTrigger(), Summary: d.GetSummary(),
				ConfigFilename: d.GetGitPath().GetConfigFilename(), StartedAt: d.GetCreatedAt(),
				CompletedAt: d.GetCompletedAt(),
			},
		},
	)
	if err != nil && ctx.Err() == nil {
		h.logger.Error(
			"report of an application's newest deployment failed", "application", d.GetApplicationName(), "deployment",
			d.GetId(), "error", err,
		)
	}
}

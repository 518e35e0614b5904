// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/controlplane"
)

// create creates a deployment of the application at the head of its repository, hands it to the scheduler
// and remembers it. When it returns an error nothing has been remembered.
func (t *Trigger) create(ctx context.Context, c *candidate, why cause) error {
	mirror := c.repository.git
	d, err := newDeployment(
		c.application, c.config, mirror.Branch(), mirror.Remote(), c.snapshot.head, why, t.options.ProjectID,
		t.options.PipedID, t.options.Clock.Now(),
	)
	if err != nil {
		return err
	}
	if d, err = t.send(ctx, d, c.config.PostSync); err != nil {
		return fmt.Errorf(
			"create a deployment of application %s at commit %s: %w", c.application.GetName(), c.snapshot.head.Hash,
			err,
		)
	}
	t.options.Deployments.Submit(d)
	t.commits.put(c.application.GetId(), c.snapshot.head.Hash)
	t.newest[c.application.GetId()] = d.GetId()
	c.deployed = true
	c.application.SyncState = nil // whatever it was, it is told again after this deployment
	t.logger.Info("deployment created", "application", c.application.GetName(), "deployment", d.GetId(),
		"commit", c.snapshot.head.Hash, "trigger", why.kind, "reason", why.log)
	t.reportTriggered(ctx, d)
	return nil
}

// send tells the control plane and returns the deployment as it stands there.
func (t *Trigger) send(ctx context.Context, d *model.Deployment, post *config.PostSync) (*model.Deployment, error) {
	var err error
	chained := post != nil && post.Chain != nil && d.GetDeploymentChainId() == ""
	if chained {
		_, err = t.options.ControlPlane.CreateDeploymentChain(
			ctx, &pipedservice.CreateDeploymentChainRequest{FirstDeployment: d, Matchers: matchers(post.Chain)},
		)
	} else {
		_, err = t.options.ControlPlane.CreateDeployment(ctx, &pipedservice.CreateDeploymentRequest{Deployment: d})
	}
	exists := status.Code(err) == codes.AlreadyExists // an earlier try got through; it may even have ended
	switch {
	case err != nil && !exists:
		return nil, err
	case !chained && !exists:
		return d, nil
	}
	answer, err := t.options.ControlPlane.GetDeployment(ctx, &pipedservice.GetDeploymentRequest{Id: d.GetId()})
	if err != nil {
		return nil, err
	}
	return answer.GetDeployment(), nil
}

func matchers(chain *config.Chain) []*pipedservice.CreateDeploymentChainRequest_ApplicationMatcher {
	var list []*pipedservice.CreateDeploymentChainRequest_ApplicationMatcher
	for _, a := range chain.Applications {
		list = append(
			list,
			&pipedservice.CreateDeploymentChainRequest_ApplicationMatcher{Name: a.Name, Kind: a.Kind, Labels: a.Labels},
		)
	}
	return list
}

// reportTriggered makes the control plane remember the deployment as the application's newest. A failure
// only matters to the next piped, which then finds the deployment itself.
func (t *Trigger) reportTriggered(ctx context.Context, d *model.Deployment) {
	_, err := t.options.ControlPlane.ReportApplicationMostRecentDeployment(
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
		t.logger.Error(
			"report of an application's newest deployment failed", "application", d.GetApplicationName(), "deployment",
			d.GetId(), "error", err,
		)
	}
}

// previous returns the commit that was looked at last for the application; empty when it was never deployed.
func (t *Trigger) previous(ctx context.Context, a *model.Application) (string, error) {
	if commit, known := t.commits.get(a.GetId()); known {
		return commit, nil
	}
	if err := t.listOpen(ctx); err != nil {
		return "", err
	}
	var newest *model.DeploymentTrigger
	answer, err := t.options.ControlPlane.GetApplicationMostRecentDeployment(
		ctx,
		&pipedservice.GetApplicationMostRecentDeploymentRequest{
			ApplicationId: a.GetId(), Status: model.DeploymentStatus_DEPLOYMENT_PENDING,
		},
	)
	switch {
	case err == nil:
		newest = answer.GetDeployment().GetTrigger()
	case status.Code(err) != codes.NotFound:
		return "", fmt.Errorf("ask for the last deployment of application %s: %w", a.GetName(), err)
	}
	// A piped that was killed after creating a deployment had no time to report it.
	if d := t.open[a.GetId()]; d.GetTrigger().GetTimestamp() > newest.GetTimestamp() {
		newest = d.GetTrigger()
		t.reportTriggered(ctx, d)
	}
	delete(t.open, a.GetId())
	return newest.GetCommit().GetHash(), nil
}

// listOpen fetches, once, the newest deployment under way for each application.
func (t *Trigger) listOpen(ctx context.Context) error {
	if t.open != nil {
		return nil
	}
	deployments, err := controlplane.OpenDeployments(ctx, t.options.ControlPlane)
	if err != nil {
		return fmt.Errorf("list the deployments under way: %w", err)
	}
	open := map[string]*model.Deployment{}
	for _, d := range deployments {
		if d.GetTrigger().GetTimestamp() > open[d.GetApplicationId()].GetTrigger().GetTimestamp() {
			open[d.GetApplicationId()] = d
		}
	}
	t.open = open
	return nil
}

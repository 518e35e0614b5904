// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
)

// revision is an application at a commit.
type revision struct {
	commit git.Commit
	config *config.Application
	// looked is the commit that the next one is compared with.
	looked string
	// post is what follows the deployment; nil for nothing.
	post *config.PostSync
}

// create creates a deployment of the application at the head of its repository.
func (t *Trigger) create(ctx context.Context, c *candidate, why cause) error {
	head := c.snapshot.head
	return t.createAt(ctx, c, revision{head, c.config, head.Hash, c.config.PostSync}, why)
}

// createAt creates a deployment of the application at a revision, hands it to the scheduler and remembers it. When it
// returns an error nothing has been remembered.
func (t *Trigger) createAt(ctx context.Context, c *candidate, at revision, why cause) error {
	mirror, hash := c.repository.git, at.commit.Hash
	draft := Draft{
		Application: c.application, Config: at.config, Head: at.commit, Branch: mirror.Branch(),
		Remote: mirror.Remote(), ProjectID: t.options.ProjectID, PipedID: t.options.PipedID, Now: t.tick(),
	}
	d, err := draft.deployment(why)
	if err != nil {
		return err
	}
	if d, err = t.send(ctx, d, at.post); err != nil {
		return fmt.Errorf("create a deployment of application %s at commit %s: %w", c.application.GetName(), hash, err)
	}
	t.options.Deployments.Submit(d)
	c.deployed = true
	t.underway[c.application.GetId()]++
	c.application.SyncState = nil // whatever it was, it is reported again after this deployment
	t.logger.Info("deployment created", "application", c.application.GetName(), "deployment", d.GetId(),
		"commit", hash, "trigger", why.kind, "reason", why.log)
	t.history.created(ctx, c.application, d, at.looked)
	return nil
}

// tick returns the time of a new deployment: later than that of all others that were created here, also when the
// clock of the machine was set back. An older deployment could otherwise supersede the newest commit.
func (t *Trigger) tick() time.Time {
	now := t.options.Clock.Now().Round(0) // without the reading of the monotonic clock, which is not what others see
	if !now.After(t.newest) {
		now = t.newest.Add(time.Microsecond)
	}
	t.newest = now
	return now
}

// send creates the deployment at the control plane and returns it as it stands there.
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

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// Listener is told of every event, in the order of the reports. It must return at once.
type Listener func(Event)

// Client passes calls on to the control plane and tells its listeners what they mean.
type Client struct {
	ps.PipedServiceClient
	now       func() time.Time
	listeners []Listener

	mu           sync.Mutex
	deployments  deployments
	applications applications
	webAddress   string
	pipedName    string
}

// New puts a Client in front of next. A nil now is the system's clock.
func New(next ps.PipedServiceClient, now func() time.Time, listeners ...Listener) *Client {
	if now == nil {
		now = time.Now
	}
	return &Client{PipedServiceClient: next, now: now, listeners: listeners}
}

// Introduction is what the control plane has answered to ReportPipedMeta: its web address and its name for
// this piped. Both are empty before.
func (c *Client) Introduction() (webAddress, pipedName string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.webAddress, c.pipedName
}

// Tell hands an event to the listeners that no call tells of.
func (c *Client) Tell(e Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell(e)
}

// tell hands events to the listeners. It is called with the lock held, which keeps the order.
func (c *Client) tell(events ...Event) {
	for _, e := range events {
		e.At = c.now()
		for _, listen := range c.listeners {
			listen(e)
		}
	}
}

// ReportPipedMeta remembers the answer.
func (c *Client) ReportPipedMeta(ctx context.Context, r *ps.ReportPipedMetaRequest, opts ...grpc.CallOption) (*ps.ReportPipedMetaResponse, error) {
	answer, err := c.PipedServiceClient.ReportPipedMeta(ctx, r, opts...)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.webAddress, c.pipedName = answer.GetWebBaseUrl(), answer.GetName()
	}
	return answer, err
}

// CreateDeployment tells of DeploymentTriggered or DeploymentTriggerFailed.
func (c *Client) CreateDeployment(ctx context.Context, r *ps.CreateDeploymentRequest, opts ...grpc.CallOption) (*ps.CreateDeploymentResponse, error) {
	answer, err := c.PipedServiceClient.CreateDeployment(ctx, r, opts...)
	c.created(ctx, r.GetDeployment(), err)
	return answer, err
}

// CreateDeploymentChain tells of its first deployment; the others come as commands.
func (c *Client) CreateDeploymentChain(ctx context.Context, r *ps.CreateDeploymentChainRequest, opts ...grpc.CallOption) (*ps.CreateDeploymentChainResponse, error) {
	answer, err := c.PipedServiceClient.CreateDeploymentChain(ctx, r, opts...)
	c.created(ctx, r.GetFirstDeployment(), err)
	return answer, err
}

func (c *Client) created(ctx context.Context, d *model.Deployment, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch code := status.Code(err); {
	case err == nil, code == codes.AlreadyExists: // an earlier try got through
		if t, fresh := c.deployments.add(d); fresh {
			t.since = c.now()
			c.tell(Event{Type: DeploymentTriggered, Deployment: t.snapshot()})
		}
	case ctx.Err() != nil, code == codes.Unavailable, code == codes.DeadlineExceeded:
		// The trigger tries again.
	case c.applications.failedBefore(d):
	default:
		c.tell(Event{
			Type: DeploymentTriggerFailed, Application: c.applications.get(d.GetApplicationId(), d.GetApplicationName()),
			Deployment: proto.CloneOf(d), Reason: status.Convert(err).Message(),
		})
	}
}

// ListNotCompletedDeployments learns of deployments that this piped has not created.
func (c *Client) ListNotCompletedDeployments(ctx context.Context, r *ps.ListNotCompletedDeploymentsRequest, opts ...grpc.CallOption) (*ps.ListNotCompletedDeploymentsResponse, error) {
	answer, err := c.PipedServiceClient.ListNotCompletedDeployments(ctx, r, opts...)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, d := range answer.GetDeployments() {
			c.deployments.add(d)
		}
	}
	return answer, err
}

// ListUnhandledCommands learns who cancels a deployment.
func (c *Client) ListUnhandledCommands(ctx context.Context, r *ps.ListUnhandledCommandsRequest, opts ...grpc.CallOption) (*ps.ListUnhandledCommandsResponse, error) {
	answer, err := c.PipedServiceClient.ListUnhandledCommands(ctx, r, opts...)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, command := range answer.GetCommands() {
			known := c.deployments.byID[command.GetDeploymentId()]
			if command.GetType() == model.Command_CANCEL_DEPLOYMENT && known != nil {
				known.canceller = command.GetCommander()
			}
		}
	}
	return answer, err
}

// ReportDeploymentPlanned tells of DeploymentPlanned.
func (c *Client) ReportDeploymentPlanned(ctx context.Context, r *ps.ReportDeploymentPlannedRequest, opts ...grpc.CallOption) (*ps.ReportDeploymentPlannedResponse, error) {
	answer, err := c.PipedServiceClient.ReportDeploymentPlanned(ctx, r, opts...)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		t := c.deployments.get(r.GetDeploymentId())
		t.plan(r)
		c.tell(Event{Type: DeploymentPlanned, Deployment: t.snapshot(), Reason: r.GetSummary()})
	}
	return answer, err
}

// ReportDeploymentStatusChanged tells of DeploymentStarted and DeploymentRollingBack.
func (c *Client) ReportDeploymentStatusChanged(ctx context.Context, r *ps.ReportDeploymentStatusChangedRequest, opts ...grpc.CallOption) (*ps.ReportDeploymentStatusChangedResponse, error) {
	answer, err := c.PipedServiceClient.ReportDeploymentStatusChanged(ctx, r, opts...)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		t := c.deployments.get(r.GetDeploymentId())
		if before := t.Status; before == r.GetStatus() {
			return answer, err
		}
		t.Status, t.StatusReason = r.GetStatus(), r.GetStatusReason()
		switch r.GetStatus() {
		case model.DeploymentStatus_DEPLOYMENT_RUNNING:
			c.tell(Event{Type: DeploymentStarted, Deployment: t.snapshot()})
		case model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK:
			c.tell(Event{Type: DeploymentRollingBack, Deployment: t.snapshot(), Reason: r.GetStatusReason()})
		}
	}
	return answer, err
}

// ReportDeploymentCompleted tells of the end and forgets the deployment.
func (c *Client) ReportDeploymentCompleted(ctx context.Context, r *ps.ReportDeploymentCompletedRequest, opts ...grpc.CallOption) (*ps.ReportDeploymentCompletedResponse, error) {
	answer, err := c.PipedServiceClient.ReportDeploymentCompleted(ctx, r, opts...)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		t := c.deployments.get(r.GetDeploymentId())
		t.Status, t.StatusReason, t.CompletedAt = r.GetStatus(), r.GetStatusReason(), r.GetCompletedAt()
		e := Event{Type: DeploymentSucceeded, Deployment: t.snapshot(), Reason: r.GetStatusReason(), Took: since(t.since, c.now())}
		switch r.GetStatus() {
		case model.DeploymentStatus_DEPLOYMENT_FAILURE:
			e.Type = DeploymentFailed
		case model.DeploymentStatus_DEPLOYMENT_CANCELLED:
			e.Type, e.Commander = DeploymentCancelled, t.canceller
		}
		c.deployments.end(r.GetDeploymentId())
		c.tell(e)
	}
	return answer, err
}

// SaveStageMetadata learns who has approved.
func (c *Client) SaveStageMetadata(ctx context.Context, r *ps.SaveStageMetadataRequest, opts ...grpc.CallOption) (*ps.SaveStageMetadataResponse, error) {
	answer, err := c.PipedServiceClient.SaveStageMetadata(ctx, r, opts...)
	if users, ok := r.GetMetadata()[approvedUsersKey]; ok && err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.deployments.get(r.GetDeploymentId()).approved(r.GetStageId(), users)
	}
	return answer, err
}

// ReportStageStatusChanged tells of the stage, and of the approval when it is one that users approve.
func (c *Client) ReportStageStatusChanged(ctx context.Context, r *ps.ReportStageStatusChangedRequest, opts ...grpc.CallOption) (*ps.ReportStageStatusChangedResponse, error) {
	answer, err := c.PipedServiceClient.ReportStageStatusChanged(ctx, r, opts...)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.tell(c.deployments.get(r.GetDeploymentId()).stageChanged(r, c.now())...)
	}
	return answer, err
}

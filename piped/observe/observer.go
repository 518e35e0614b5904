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
	"github.com/pipedeck/pipedeck/piped/controlplane"
)

// Listener gets every event, in the order of the reports. It must return at once.
type Listener func(Event)

// Observer turns calls to the control plane into events for its listeners.
type Observer struct {
	now       func() time.Time
	listeners []Listener

	mu           sync.Mutex
	deployments  deployments
	applications applications
	webAddress   string
	pipedName    string
}

// New creates an Observer; calls reach it through Intercept. A nil now is the system's clock.
func New(now func() time.Time, listeners ...Listener) *Observer {
	if now == nil {
		now = time.Now
	}
	return &Observer{now: now, listeners: listeners}
}

// Introduction is what the control plane has answered to ReportPipedMeta: its web address and its name for
// this piped. Both are empty before.
func (o *Observer) Introduction() (webAddress, pipedName string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.webAddress, o.pipedName
}

// Notify sends the listeners an event that belongs to no call.
func (o *Observer) Notify(e Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.notify(e)
}

// notify sends events to the listeners. It is called with the lock held, which keeps the order.
func (o *Observer) notify(events ...Event) {
	for _, e := range events {
		e.At = o.now()
		for _, listen := range o.listeners {
			listen(e)
		}
	}
}

// Intercept is the layer of calls that observes them; it passes them on unchanged.
func (o *Observer) Intercept(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption,
) error {
	err := invoke(ctx, method, request, reply, conn, opts...)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch r := request.(type) {
	case *ps.CreateDeploymentRequest:
		o.created(ctx, r.GetDeployment(), err)
	case *ps.CreateDeploymentChainRequest:
		o.created(ctx, r.GetFirstDeployment(), err) // the others come as commands
	default:
		if err == nil {
			o.reported(request)
			o.answered(reply)
		}
	}
	return err
}

// created notifies about DeploymentTriggered or DeploymentTriggerFailed.
func (o *Observer) created(ctx context.Context, d *model.Deployment, err error) {
	switch {
	case err == nil, status.Code(err) == codes.AlreadyExists: // an earlier try got through
		if t, fresh := o.deployments.add(d); fresh {
			t.since = o.now()
			o.notify(Event{Type: DeploymentTriggered, Deployment: t.snapshot()})
		}
	case ctx.Err() != nil, controlplane.Passing(err):
		// The trigger tries again.
	case o.applications.failedBefore(d):
	default:
		o.notify(Event{
			Type:        DeploymentTriggerFailed,
			Application: o.applications.get(d.GetApplicationId(), d.GetApplicationName()),
			Deployment:  proto.CloneOf(d), Reason: status.Convert(err).Message(),
		})
	}
}

// reported takes in a request that the control plane has taken.
func (o *Observer) reported(request any) {
	switch r := request.(type) {
	case *ps.ReportDeploymentPlannedRequest:
		t := o.deployments.get(r.GetDeploymentId())
		t.plan(r)
		o.notify(Event{Type: DeploymentPlanned, Deployment: t.snapshot(), Reason: r.GetSummary()})
	case *ps.ReportDeploymentStatusChangedRequest:
		o.notify(o.deployments.get(r.GetDeploymentId()).statusChanged(r)...)
	case *ps.ReportDeploymentCompletedRequest:
		e := o.deployments.get(r.GetDeploymentId()).completed(r, o.now())
		o.deployments.end(r.GetDeploymentId())
		o.notify(e)
	case *ps.SaveStageMetadataRequest:
		if users, ok := r.GetMetadata()[approvedUsersKey]; ok {
			o.deployments.get(r.GetDeploymentId()).approved(r.GetStageId(), users)
		}
		if r.GetMetadata()[waitingKey] == "yes" {
			o.notify(o.deployments.get(r.GetDeploymentId()).waits(r.GetStageId()))
		}
	case *ps.ReportStageStatusChangedRequest:
		o.notify(o.deployments.get(r.GetDeploymentId()).stageChanged(r, o.now())...)
	case *ps.ReportApplicationSyncStateRequest:
		o.notify(o.applications.syncState(r)...)
	case *ps.ReportApplicationLiveStateRequest:
		o.notify(o.applications.liveState(r)...)
	}
}

// answered takes in an answer of the control plane.
func (o *Observer) answered(reply any) {
	switch r := reply.(type) {
	case *ps.ReportPipedMetaResponse:
		o.webAddress, o.pipedName = r.GetWebBaseUrl(), r.GetName()
	case *ps.ListNotCompletedDeploymentsResponse: // also those that this piped has not created
		for _, d := range r.GetDeployments() {
			o.deployments.add(d)
		}
	case *ps.ListUnhandledCommandsResponse:
		for _, command := range r.GetCommands() {
			known := o.deployments.byID[command.GetDeploymentId()]
			if command.GetType() == model.Command_CANCEL_DEPLOYMENT && known != nil {
				known.canceller = command.GetCommander()
			}
		}
	case *ps.ListApplicationsResponse:
		o.applications.replace(r.GetApplications())
	}
}

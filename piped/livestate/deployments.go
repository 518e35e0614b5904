// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// Deployments notices when deployments begin and end, and what other parts of piped report about configurations, and
// notifies a Reporter. The zero value is ready.
type Deployments struct {
	mu           sync.Mutex
	setDeploying func(application string, deploying bool)
	setSync      func(application string, state *model.ApplicationSyncState) (doubtful bool)
	examine      func(application string)
}

func (d *Deployments) subscribe(
	setDeploying func(application string, deploying bool),
	setSync func(application string, state *model.ApplicationSyncState) (doubtful bool),
	examine func(application string),
) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.setDeploying, d.setSync, d.examine = setDeploying, setSync, examine
}

// Intercept is the layer of calls to the control plane that sees ReportApplicationDeployingStatus, the last report of a
// deployment that has ended, with or without success, and ReportApplicationSyncState.
func (d *Deployments) Intercept(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption,
) error {
	doubtful := ""
	if r, ok := request.(*pipedservice.ReportApplicationSyncStateRequest); ok && ctx.Value(ownKey{}) == nil {
		// Before it is sent: the report of a look that ends meanwhile may arrive later, and the look has to know then.
		d.mu.Lock()
		if d.setSync != nil {
			if d.setSync(r.GetApplicationId(), r.GetState()) {
				doubtful = r.GetApplicationId()
			}
		}
		d.mu.Unlock()
	}
	err := invoke(ctx, method, request, reply, conn, opts...)
	if doubtful != "" { // not earlier: a look goes by the state that the control plane has
		d.examine(doubtful)
	}
	if r, ok := request.(*pipedservice.ReportApplicationDeployingStatusRequest); ok {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.setDeploying != nil {
			d.setDeploying(r.GetApplicationId(), r.GetDeploying())
		}
	}
	return err
}

// ownKey marks the context of what a Reporter itself reports.
type ownKey struct{}

// reported is what piped has reported of an application, maybe after a look at it began.
type reported struct {
	deploying bool
	// invalid is the newest sync state of another part of piped if that is INVALID_CONFIG, which goes before what is
	// live; else nil.
	invalid *model.ApplicationSyncState
}

func (r reported) decides() bool { return r.deploying || r.invalid != nil }

// setDeploying follows deployments; the end of one calls for a look.
func (r *Reporter) setDeploying(id string, deploying bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.applications[id]
	if a == nil {
		r.relist = true // it is new
	} else {
		a.reported.deploying = deploying
		a.changed = a.changed || !deploying
		r.relist = r.relist || !deploying
	}
	r.nudge()
}

// setSync follows the configuration of an application. An unknown one brings its sync state along when it is listed. A
// state is doubtful that another part of piped does not know, and what it puts in the place of INVALID_CONFIG: it may
// be from before.
func (r *Reporter) setSync(id string, state *model.ApplicationSyncState) (doubtful bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	const invalid = model.ApplicationSyncStatus_INVALID_CONFIG
	doubtful = state.GetStatus() == model.ApplicationSyncStatus_UNKNOWN
	a := r.applications[id]
	switch {
	case a == nil:
	case state.GetStatus() == invalid:
		a.reported.invalid = proto.CloneOf(state)
	default:
		doubtful = doubtful || a.reported.invalid != nil || a.model.GetSyncState().GetStatus() == invalid
		a.reported.invalid = nil
	}
	return doubtful
}

// lookAgain has an application looked at and listed again whose sync state was reported.
func (r *Reporter) lookAgain(id string) {
	r.mu.Lock()
	r.relist = true // what was listed may have the state from before
	r.mu.Unlock()
	r.changed(id)
}

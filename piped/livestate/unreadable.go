// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/system/plainerror"
)

// doubtAfter is how many looks fail in a row until the last known state of an application is no longer taken for its
// state. A plugin that is started again, as after a rebuild, misses fewer.
const doubtAfter = 3

// shortUnreadable is the short reason of a sync state that is unknown because of that.
const shortUnreadable = "The live state cannot be read"

// unreadableError is the failure of a look at a live state, as opposed to a failure to report it.
type unreadableError struct{ error }

func (e unreadableError) Unwrap() error { return e.error }

// doubt reports that the state of an application is not known because it could not be read several times. What it was
// seen to have stays, with the reason instead of its health. (PipeCD v1 shows the last known state for ever.)
func (r *Reporter) doubt(ctx context.Context, a *application, m *model.Application, cause error,
	since func() reported) error {
	reason := plainerror.Text(cause)
	state := &model.ApplicationLiveState{HealthStatus: model.ApplicationLiveState_UNKNOWN}
	for _, resource := range a.live.GetResources() {
		resource = proto.CloneOf(resource)
		resource.HealthStatus, resource.HealthDescription = model.ResourceState_UNKNOWN, reason
		state.Resources = append(state.Resources, resource)
	}
	err := r.reportLive(ctx, m, state, model.ApplicationLiveStateSnapshot_UNKNOWN)
	if !decides(m) {
		return err
	}
	return errors.Join(err, r.reportSyncUnless(ctx, m, &model.ApplicationSyncState{
		Status: model.ApplicationSyncStatus_UNKNOWN, ShortReason: shortUnreadable, Reason: reason,
		HeadDeploymentId: m.GetMostRecentlySuccessfulDeployment().GetDeploymentId(),
		Timestamp:        r.options.Clock.Now().Unix(),
	}, since))
}

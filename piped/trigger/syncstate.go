// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// mistake is a broken configuration that the control plane was told of.
type mistake struct {
	reason string
	// before is the sync state from before; nil when it is not known.
	before *model.ApplicationSyncState
}

// reportMistakes keeps the sync state of applications with broken configurations at INVALID_CONFIG. It is
// told again when someone else has reported another state since.
func (t *Trigger) reportMistakes(ctx context.Context, candidates []*candidate) error {
	for _, c := range candidates {
		if c.err == nil {
			continue
		}
		id, state := c.application.GetId(), c.application.GetSyncState()
		known, told := t.mistakes[id]
		stands := state.GetStatus() == model.ApplicationSyncStatus_INVALID_CONFIG
		if told && known.reason == c.err.Error() && stands {
			continue
		}
		if !told {
			known.before = state
		}
		// An earlier piped has told of what stands at the control plane already.
		fresh := known.reason != c.err.Error() && !(isOurs(state) && state.GetReason() == c.err.Error())
		known.reason = c.err.Error()
		if err := t.reportState(
			ctx, c.application, model.ApplicationSyncStatus_INVALID_CONFIG, firstLine(c.err), known.reason,
		); err != nil {
			return err
		}
		t.mistakes[id] = known
		if fresh && t.options.Broken != nil {
			head := c.snapshot.head
			t.options.Broken(
				proto.CloneOf(c.application), commitOf(head, c.repository.git.Branch(), c.repository.git.Remote()),
				known.reason,
			)
		}
	}
	return nil
}

// reportMended ends the INVALID_CONFIG of applications whose configuration is good again. One that is
// deployed now gets its state from that.
func (t *Trigger) reportMended(ctx context.Context, candidates []*candidate) error {
	for _, c := range candidates {
		id, state := c.application.GetId(), c.application.GetSyncState()
		known, told := t.mistakes[id]
		if c.err != nil || !told && !isOurs(state) {
			continue
		}
		t.logger.Info(
			"application configuration is valid again", "application", c.application.GetName(), "commit",
			c.snapshot.head.Hash,
		)
		if !c.deployed {
			status, short, long := model.ApplicationSyncStatus_UNKNOWN, "The application configuration is valid "+
				"again", ""
			switch known.before.GetStatus() {
			case model.ApplicationSyncStatus_SYNCED, model.ApplicationSyncStatus_OUT_OF_SYNC:
				status, short, long = known.before.GetStatus(), known.before.GetShortReason(), known.before.GetReason()
			}
			if err := t.reportState(ctx, c.application, status, short, long); err != nil {
				return err
			}
		}
		delete(t.mistakes, id)
	}
	return nil
}

// isOurs recognizes what reportMistakes of an earlier piped has left: unlike the states that come from a
// deployment it names none.
func isOurs(state *model.ApplicationSyncState) bool {
	return state.GetStatus() == model.ApplicationSyncStatus_INVALID_CONFIG && state.GetHeadDeploymentId() == ""
}

func (t *Trigger) reportState(
	ctx context.Context, a *model.Application, status model.ApplicationSyncStatus, short, reason string,
) error {
	state := &model.ApplicationSyncState{
		Status: status, ShortReason: short, Reason: reason, Timestamp: t.options.Clock.Now().Unix(),
	}
	_, err := t.options.ControlPlane.ReportApplicationSyncState(
		ctx, &pipedservice.ReportApplicationSyncStateRequest{ApplicationId: a.GetId(), State: state},
	)
	if err != nil {
		return fmt.Errorf("report the sync state of application %s: %w", a.GetName(), err)
	}
	a.SyncState = state // until the applications are listed again
	return nil
}

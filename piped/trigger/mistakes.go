// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"fmt"
	"log/slog"
	"maps"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/system/clock"
)

// mistake is a broken configuration that the control plane has a report of.
type mistake struct {
	reason string
	// notified is what broken was called with, as mistakeOf has it.
	notified string
	// before is the sync state from before; nil when it is not known.
	before *model.ApplicationSyncState
}

// mistakes keeps the sync states of applications whose configuration cannot be used.
type mistakes struct {
	controlPlane pipedservice.PipedServiceClient
	clock        clock.Clock
	logger       *slog.Logger
	// broken is Options.Broken.
	broken func(application *model.Application, commit *model.Commit, reason string)

	known map[string]mistake // by application
}

// any reports whether any configuration is broken.
func (m *mistakes) any() bool { return len(m.known) > 0 }

// keep forgets all applications but those that exist.
func (m *mistakes) keep(exists func(application string) bool) {
	maps.DeleteFunc(m.known, func(application string, _ mistake) bool { return !exists(application) })
}

// reportBroken keeps the sync state of applications with broken configurations at INVALID_CONFIG. It is
// reported again when someone else has reported another state since.
func (m *mistakes) reportBroken(ctx context.Context, candidates []*candidate) error {
	for _, c := range candidates {
		if c.err == nil {
			continue
		}
		id, state := c.application.GetId(), c.application.GetSyncState()
		last, reported := m.known[id]
		stands := state.GetStatus() == model.ApplicationSyncStatus_INVALID_CONFIG
		if reported && last.reason == c.err.Error() && stands {
			continue
		}
		if !reported {
			last.before = state
		}
		// An earlier piped may have reported it already.
		fresh := last.notified != mistakeOf(c.err) && !(isOurs(state) && state.GetReason() == c.err.Error())
		last.reason, last.notified = c.err.Error(), mistakeOf(c.err)
		if err := m.reportState(
			ctx, c.application, model.ApplicationSyncStatus_INVALID_CONFIG, shortReason(c.err), last.reason,
		); err != nil {
			return err
		}
		m.known[id] = last
		if fresh && m.broken != nil {
			head := c.snapshot.head
			m.broken(
				proto.CloneOf(c.application), commitOf(head, c.repository.git.Branch(), c.repository.git.Remote()),
				last.reason,
			)
		}
	}
	return nil
}

// doubt has reportBroken report the state of an application again, because the end of a deployment has replaced it. It
// leaves an application alone whose configuration was not broken; nil is unknown.
func (m *mistakes) doubt(application *model.Application) {
	if last, broken := m.known[application.GetId()]; broken && application != nil {
		application.SyncState = nil
		last.before = nil // it was that of another deployment
		m.known[application.GetId()] = last
	}
}

// reportFixed ends the INVALID_CONFIG of applications whose configuration is valid again. An application that is
// deployed now gets its state from that deployment.
func (m *mistakes) reportFixed(ctx context.Context, candidates []*candidate) error {
	var now *standing
	for _, c := range candidates {
		id, state := c.application.GetId(), c.application.GetSyncState()
		last, reported := m.known[id]
		if c.err != nil || !reported && !isOurs(state) {
			continue
		}
		m.logger.Info(
			"application configuration is valid again", "application", c.application.GetName(), "commit",
			c.snapshot.head.Hash,
		)
		if !c.deployed {
			if now == nil {
				var err error
				if now, err = readStanding(ctx, m.controlPlane); err != nil {
					return err
				}
			}
			if err := m.reportNow(ctx, c, last.before, now); err != nil {
				return err
			}
		}
		delete(m.known, id)
	}
	return nil
}

// reportNow reports the state of an application whose configuration is valid again.
func (m *mistakes) reportNow(ctx context.Context, c *candidate, before *model.ApplicationSyncState,
	now *standing) error {
	if err := m.report(ctx, c.application, now.state(c.application, before)); err != nil {
		return err
	}
	if now.open[c.application.GetId()] == nil {
		return nil
	}
	// The deployment may have ended meanwhile, and this report may have replaced the one of its end.
	now, err := readStanding(ctx, m.controlPlane)
	if err != nil || now.open[c.application.GetId()] != nil {
		return err
	}
	return m.report(ctx, c.application, now.state(c.application, nil))
}

// isOurs recognizes what reportBroken of an earlier piped has left: unlike the states that come from a
// deployment it names none.
func isOurs(state *model.ApplicationSyncState) bool {
	return state.GetStatus() == model.ApplicationSyncStatus_INVALID_CONFIG && state.GetHeadDeploymentId() == ""
}

func (m *mistakes) reportState(
	ctx context.Context, a *model.Application, status model.ApplicationSyncStatus, short, reason string,
) error {
	return m.report(ctx, a, &model.ApplicationSyncState{Status: status, ShortReason: short, Reason: reason})
}

func (m *mistakes) report(ctx context.Context, a *model.Application, state *model.ApplicationSyncState) error {
	state.Timestamp = m.clock.Now().Unix()
	_, err := m.controlPlane.ReportApplicationSyncState(
		ctx, &pipedservice.ReportApplicationSyncStateRequest{ApplicationId: a.GetId(), State: state},
	)
	if err != nil {
		return fmt.Errorf("report the sync state of application %s: %w", a.GetName(), err)
	}
	a.SyncState = state // until the applications are listed again
	return nil
}

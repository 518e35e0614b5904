// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/piped/redeploy"
)

// freshKey is the metadata of a question to which a plugin answers without what it remembers. Plugins other than those
// of our SDK ignore it.
const freshKey = "pipedeck-fresh-look"

// look asks the plugins and reports what they say. wait is the time to the next look, 0 when only something that
// happens calls for one. live is what was reported, nil when nothing was. A fresh look is for a user who asks for it.
func (r *Reporter) look(
	ctx context.Context, a *model.Application, since func() reported, fresh bool,
) (live *model.ApplicationLiveState, wait time.Duration, err error) {
	running := a.GetMostRecentlySuccessfulDeployment()
	plugins, pushed := r.pluginsOf(a)
	switch {
	case running == nil:
		return nil, 0, errNotDeployed
	case len(plugins) == 0:
		return nil, 0, errNoLivestate
	}
	wait = r.options.Interval
	if pushed {
		wait = max(wait, pushedInterval)
	}
	judges := !since().decides() && decides(a)
	var last *model.Deployment
	if judges {
		if last, err = redeploy.Find(ctx, r.options.ControlPlane, running); err != nil {
			return nil, wait, err
		}
	}
	answers, err := r.examine(ctx, a, plugins, newest(a, last), fresh)
	if err != nil {
		return nil, wait, unreadableError{err}
	}
	if len(answers) == 0 {
		return nil, wait, errNoLivestate
	}
	live, health := mergeLive(answers)
	if err := r.reportLive(ctx, a, live, health); err != nil || !judges {
		return live, wait, err
	}
	state := mergeSync(append(behind(last), answers...), r.options.Clock.Now())
	state.HeadDeploymentId = running.GetDeploymentId()
	return live, wait, r.reportSyncUnless(ctx, a, state, since)
}

// examine asks the plugins at the commit that was deployed last. newest is the newest commit in Git where that is
// another one; else empty.
func (r *Reporter) examine(
	ctx context.Context, a *model.Application, plugins []Plugin, newest string, fresh bool,
) (answers []*livestate.GetLivestateResponse, err error) {
	running := a.GetMostRecentlySuccessfulDeployment()
	source, err := r.options.Prepare(ctx, a, running.GetTrigger().GetCommit().GetHash(), running.GetConfigFilename())
	if err != nil {
		return nil, fmt.Errorf("prepare the sources of the last deployment: %w", err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	plugins = named(plugins, source.Proto())
	if answers, err = r.ask(ctx, a, plugins, source, fresh); err == nil {
		r.reportDrift(ctx, a, plugins, answers, source, newest)
	}
	return answers, err
}

// behind is one more answer about the sync state when the last deployment, nil for one without notes, went back behind
// the newest commit: the application is not as in Git, however well it agrees with the commit that runs.
func behind(last *model.Deployment) []*livestate.GetLivestateResponse {
	short, reason := redeploy.SyncState(last)
	if short == "" {
		return nil
	}
	return []*livestate.GetLivestateResponse{{SyncState: &model.ApplicationSyncState{
		Status: model.ApplicationSyncStatus_OUT_OF_SYNC, ShortReason: short, Reason: reason,
	}}}
}

// ask questions every plugin once. An error of one is the error of all: half a live state would show as a drift (PipeCD
// v1: the same).
func (r *Reporter) ask(
	ctx context.Context, a *model.Application, plugins []Plugin, source Source, fresh bool,
) (answers []*livestate.GetLivestateResponse, err error) {
	if fresh {
		ctx = metadata.AppendToOutgoingContext(ctx, freshKey, "yes")
	}
	for _, p := range plugins {
		answer, err := p.Livestate.GetLivestate(ctx, r.request(a, p, source))
		switch {
		case status.Code(err) == codes.Unimplemented:
			r.setUnsupported(p.Name)
		case err != nil:
			return nil, fmt.Errorf("ask plugin %s: %w", p.Name, err)
		default:
			answers = append(answers, answer)
		}
	}
	return answers, nil
}

func (r *Reporter) request(a *model.Application, p Plugin, source Source) *livestate.GetLivestateRequest {
	return &livestate.GetLivestateRequest{
		PipedId: r.options.PipedID, ApplicationId: a.GetId(), ApplicationName: a.GetName(),
		DeploySource: source.Proto(), DeployTargets: a.GetDeployTargetsByPlugin()[p.Name].GetDeployTargets(),
	}
}

func (r *Reporter) reportLive(
	ctx context.Context, a *model.Application, state *model.ApplicationLiveState,
	health model.ApplicationLiveStateSnapshot_Status,
) error {
	now := r.options.Clock.Now()
	_, err := r.options.ControlPlane.ReportApplicationLiveState(ctx, &pipedservice.ReportApplicationLiveStateRequest{
		Snapshot: &model.ApplicationLiveStateSnapshot{
			ApplicationId: a.GetId(), PipedId: r.options.PipedID, ProjectId: r.options.ProjectID, Kind: a.GetKind(),
			HealthStatus: health, ApplicationLiveState: state,
			Version: &model.ApplicationLiveStateVersion{Timestamp: now.Unix()},
		},
	})
	if err != nil {
		return fmt.Errorf("report the live state: %w", err)
	}
	return nil
}

// reportSyncUnless reports a state that a look has found, unless what piped has reported since the look began decides.
func (r *Reporter) reportSyncUnless(ctx context.Context, a *model.Application, state *model.ApplicationSyncState,
	since func() reported) error {
	if since().decides() { // by now
		return nil
	}
	if err := r.reportSync(ctx, a, state); err != nil {
		return err
	}
	if invalid := since().invalid; invalid != nil { // it may have arrived before
		return r.reportSync(ctx, a, invalid)
	}
	return nil
}

func (r *Reporter) reportSync(ctx context.Context, a *model.Application, state *model.ApplicationSyncState) error {
	_, err := r.options.ControlPlane.ReportApplicationSyncState(context.WithValue(ctx, ownKey{}, true),
		&pipedservice.ReportApplicationSyncStateRequest{ApplicationId: a.GetId(), State: state})
	if err != nil {
		return fmt.Errorf("report the sync state: %w", err)
	}
	if state.GetStatus() == model.ApplicationSyncStatus_OUT_OF_SYNC && r.options.OutOfSync != nil {
		r.options.OutOfSync()
	}
	return nil
}

// decides reports whether the live state decides about the sync state. An invalid configuration goes before it, and
// after a deployment that did not succeed the application is not as in Git, however well it runs. A deployment that has
// changed nothing leaves the sync state of the one that runs.
func decides(a *model.Application) bool {
	known := a.GetSyncState()
	if a.GetDeploying() || known.GetStatus() == model.ApplicationSyncStatus_INVALID_CONFIG {
		return false
	}
	running, triggered := a.GetMostRecentlySuccessfulDeployment(), a.GetMostRecentlyTriggeredDeployment()
	return triggered == nil || triggered.GetDeploymentId() == running.GetDeploymentId() ||
		running != nil && known.GetHeadDeploymentId() == running.GetDeploymentId()
}

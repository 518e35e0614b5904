// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"errors"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/piped/redeploy"
)

// reportDrift asks the plugins for the fields that differ, and reports them before the live state that they belong to.
// Fields are for people only: what fails here is logged, and the live state is reported without them.
func (r *Reporter) reportDrift(
	ctx context.Context, a *model.Application, plugins []Plugin, answers []*livestate.GetLivestateResponse,
	source Source, newest string,
) {
	differs := newest != "" || slices.ContainsFunc(answers, func(answer *livestate.GetLivestateResponse) bool {
		return answer.GetSyncState().GetStatus() == model.ApplicationSyncStatus_OUT_OF_SYNC
	})
	if !differs || !r.takesDrifts() {
		return
	}
	drifts, err := r.drifts(ctx, a, plugins, source, newest)
	if err == nil && len(drifts) > 0 {
		_, err = r.options.Drifts.ReportDrift(ctx,
			&agentv1.ReportDriftRequest{ApplicationId: a.GetId(), Resources: drifts})
		if status.Code(err) == codes.Unimplemented {
			r.setDriftless()
			return
		}
	}
	if err != nil && ctx.Err() == nil {
		r.logger.Debug("the fields of a drift are not known", "application", a.GetName(), "error", err)
	}
}

// drifts asks every plugin. Those that do not know fields are left out.
func (r *Reporter) drifts(
	ctx context.Context, a *model.Application, plugins []Plugin, source Source, newest string,
) (all []*livestate.ResourceDrift, err error) {
	question := func(p Plugin) *livestate.GetDriftRequest {
		return &livestate.GetDriftRequest{Livestate: r.request(a, p, source)}
	}
	if newest != "" && newest != source.Proto().GetCommitHash() {
		inGit, err := r.options.Prepare(ctx, a, newest, "")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, inGit.Close()) }()
		question = func(p Plugin) *livestate.GetDriftRequest {
			return &livestate.GetDriftRequest{Livestate: r.request(a, p, source), NewestSource: inGit.Proto()}
		}
	}
	for _, p := range plugins {
		answer, err := p.Drift.GetDrift(ctx, question(p))
		switch {
		case status.Code(err) == codes.Unimplemented:
		case err != nil:
			return nil, err
		default:
			all = append(all, answer.GetResources()...)
		}
	}
	return all, nil
}

// newest is the newest commit in Git that changes the application, as far as it is not the one that was deployed last;
// empty when it is. last is the last successful deployment if it has notes.
func newest(a *model.Application, last *model.Deployment) string {
	succeeded, triggered := a.GetMostRecentlySuccessfulDeployment(), a.GetMostRecentlyTriggeredDeployment()
	if triggered == nil || triggered.GetDeploymentId() == succeeded.GetDeploymentId() {
		return redeploy.NewerCommit(last)
	}
	hash := triggered.GetTrigger().GetCommit().GetHash()
	if hash == succeeded.GetTrigger().GetCommit().GetHash() {
		return ""
	}
	return hash
}

// takesDrifts reports whether the control plane is not known to take no fields.
func (r *Reporter) takesDrifts() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.options.Clock.Now().Before(r.driftless)
}

func (r *Reporter) setDriftless() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.driftless = r.options.Clock.Now().Add(askAgain)
}

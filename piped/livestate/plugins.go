// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/clock"
)

// askAgain is when a plugin that could not do something is asked again: it may have been replaced.
const askAgain = 10 * time.Minute

// pluginState is what is known of a plugin's abilities.
type pluginState struct {
	// pushes is whether it reports changes.
	pushes bool
	// unsupported is until when it is taken for one without live states.
	unsupported time.Time
}

// pluginsOf returns the plugins that bring the application somewhere and may know its live state, and whether all of
// them report changes by themselves.
func (r *Reporter) pluginsOf(a *model.Application) (list []Plugin, push bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.options.Clock.Now()
	push = true
	for _, p := range r.options.Plugins {
		state := r.plugins[p.Name]
		if len(a.GetDeployTargetsByPlugin()[p.Name].GetDeployTargets()) == 0 || now.Before(state.unsupported) {
			continue
		}
		list = append(list, p)
		push = push && state.pushes
	}
	return list, push
}

// named leaves out the plugins that the configuration does not name, provided that it names any of them. An application
// may have deploy targets of plugins that it does not use: two for Kubernetes would contradict each other.
func named(plugins []Plugin, source *common.DeploymentSource) []Plugin {
	if len(plugins) < 2 {
		return plugins
	}
	application, err := config.ParseApplication(source.GetApplicationConfig(), source.GetApplicationConfigFilename())
	if err != nil {
		return plugins // it could be deployed, so the plugins can read it
	}
	var list []Plugin
	for _, p := range plugins {
		if _, ok := application.Plugins[p.Name]; ok {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return plugins
	}
	return list
}

func (r *Reporter) setUnsupported(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plugins[name].unsupported = r.options.Clock.Now().Add(askAgain)
}

func (r *Reporter) setPushes(name string, pushes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plugins[name].pushes = pushes
	if pushes {
		r.plugins[name].unsupported = time.Time{}
	}
}

// follow receives what a plugin reports, until ctx ends.
func (r *Reporter) follow(ctx context.Context, p Plugin) {
	req := &livestate.AwaitChangesRequest{}
	backoff := clock.NewBackoff(firstPause, longestPause)
	for ctx.Err() == nil {
		answer, err := p.Changes.AwaitChanges(ctx, req)
		if err == nil {
			backoff.Reset()
			r.setPushes(p.Name, true)
			req.Instance, req.Position = answer.GetInstance(), answer.GetPosition()
			if answer.GetAll() {
				r.changedAll()
			} else if len(answer.GetApplicationIds()) > 0 {
				r.changed(answer.GetApplicationIds()...)
			}
			continue
		}
		r.setPushes(p.Name, false)
		if status.Code(err) == codes.Unimplemented {
			backoff.Reset()
			_ = clock.Wait(ctx, r.options.Clock, spread(askAgain)) // the loop ends with ctx
			continue
		}
		_ = backoff.Wait(ctx, r.options.Clock)
	}
}

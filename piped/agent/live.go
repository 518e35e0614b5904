// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/livestate"
	"github.com/pipedeck/pipedeck/piped/source"
)

// liveReporter creates the part that reports live states. outOfSync is called when drift may call for a deployment.
func (a *Agent) liveReporter(sources *source.Sources, outOfSync func()) *livestate.Reporter {
	var plugins []livestate.Plugin
	for _, p := range a.plugins.Plugins() {
		plugins = append(plugins, livestate.Plugin{Name: p.Name(), Livestate: p.Livestate(),
			Changes: p.LivestateChanges(), Drift: p.LivestateDrift()})
	}
	return livestate.New(livestate.Options{
		PipedID: a.options.Config.PipedID, ProjectID: a.options.Config.ProjectID, ControlPlane: a.upstream.client,
		Drifts: a.upstream.client, Looks: a.upstream.client,
		LookTimeout: a.options.Config.LiveState.LookTimeout.Std(), Plugins: plugins,
		Deployments: &a.upstream.deployments,
		Prepare: func(ctx context.Context, m *model.Application, commit, configFilename string) (livestate.Source,
			error) {
			source, err := sources.Prepare(ctx, source.Wanted{
				Deployment: &model.Deployment{ApplicationName: m.GetName(), GitPath: m.GetGitPath()}, Commit: commit,
				ConfigFilename: configFilename,
			})
			if err != nil {
				return nil, err // a nil pointer would not be a nil livestate.Source
			}
			return source, nil
		},
		OutOfSync: outOfSync,
		Logger:    a.logger,
	})
}

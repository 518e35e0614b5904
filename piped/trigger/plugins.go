// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
)

// PluginReporter takes the plugins that applications use; Unimplemented where the control plane has no use for them.
type PluginReporter interface {
	ReportApplicationPlugins(
		context.Context, *agentv1.ReportApplicationPluginsRequest, ...grpc.CallOption,
	) (*agentv1.ReportApplicationPluginsResponse, error)
}

// usedFile is a configuration that names plugins. registered is its application; nil when the control plane knows none.
type usedFile struct {
	repository string
	file       *file
	registered *model.Application
}

// pluginUses reports which plugins applications use.
type pluginUses struct {
	uses     func(*config.Application) (plugins []string, known bool) // nil to report none
	reporter PluginReporter                                           // nil to report none

	reported map[string]use // as reported last, by fileKey
}

// use is what is reported of an application: its plugins, and whether only users deploy it.
type use struct {
	plugins []string
	manual  bool
}

// report reports the uses of the files where they have changed, and again, after each listing of the applications
// (fresh), for applications that are not registered: the control plane may be a new one. retargeted reports that the
// control plane may have given registered applications other deploy targets.
func (p *pluginUses) report(ctx context.Context, files []usedFile, fresh bool) (retargeted bool, err error) {
	if p.uses == nil || p.reporter == nil {
		return false, nil
	}
	var changed []*agentv1.ApplicationPlugins
	uses := map[string]use{}
	chained := slices.ContainsFunc(files, func(f usedFile) bool { return f.file.application.HasChain() })
	for _, f := range files {
		plugins, known := p.uses(f.file.application)
		if !known {
			continue
		}
		now := use{plugins, f.file.application.Trigger.IsManual(chained)}
		key := fileKey(f.repository, f.file.path)
		uses[key] = now
		before, reported := p.reported[key]
		same := reported && slices.Equal(before.plugins, now.plugins)
		if same && before.manual == now.manual && (f.registered != nil || !fresh) {
			continue
		}
		retargeted = retargeted || f.registered != nil && !same
		changed = append(changed, f.describe(now))
	}
	if len(changed) == 0 {
		p.reported = uses
		return false, nil
	}
	_, err = p.reporter.ReportApplicationPlugins(
		ctx, &agentv1.ReportApplicationPluginsRequest{Applications: changed},
	)
	unimplemented := status.Code(err) == codes.Unimplemented // PipeCD's users choose deploy targets themselves
	if err != nil && !unimplemented {
		return false, fmt.Errorf("report the plugins of %d applications: %w", len(changed), err)
	}
	p.reported = uses
	return retargeted && !unimplemented, nil
}

// describe is the report of a use. Registered applications are found by repository and configuration file.
func (f usedFile) describe(now use) *agentv1.ApplicationPlugins {
	described := &agentv1.ApplicationPlugins{
		RepoId: f.repository, Path: gitPathOf(f.file.dir()), ConfigFilename: f.file.base(), Plugins: now.plugins,
		Manual: now.manual,
	}
	if f.registered != nil {
		place := f.registered.GetGitPath()
		described.Path, described.ConfigFilename = place.GetPath(), place.GetConfigFilename()
	}
	return described
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// reportPlugins reports which plugins applications use, where that has changed, and again for applications that are not
// registered: the control plane may be a new one. Registered ones are found by repository and configuration file.
func (t *Trigger) reportPlugins(ctx context.Context, registered map[string]*model.Application) error {
	if t.options.Uses == nil || t.options.PluginReporter == nil {
		return nil
	}
	var changed []*agentv1.ApplicationPlugins
	uses, anyRegistered := map[string][]string{}, false
	for _, id := range slices.Sorted(maps.Keys(t.snapshots)) {
		files := t.snapshots[id].files
		for _, name := range slices.Sorted(maps.Keys(files)) {
			f, at := files[name], id+"\x00"+name
			if f.application == nil || !t.selects(f) {
				continue
			}
			plugins, known := t.options.Uses(f.application)
			if !known {
				continue
			}
			uses[at] = plugins
			before, reported := t.uses[at]
			a := registered[at]
			if reported && slices.Equal(before, plugins) && (a != nil || !t.freshList) {
				continue
			}
			one := &agentv1.ApplicationPlugins{
				RepoId: id, Path: gitPathOf(f.dir()), ConfigFilename: f.base(), Plugins: plugins,
			}
			if a != nil {
				anyRegistered = true
				one.Path, one.ConfigFilename = a.GetGitPath().GetPath(), a.GetGitPath().GetConfigFilename()
			}
			changed = append(changed, one)
		}
	}
	if len(changed) == 0 {
		t.uses = uses
		return nil
	}
	_, err := t.options.PluginReporter.ReportApplicationPlugins(
		ctx, &agentv1.ReportApplicationPluginsRequest{Applications: changed},
	)
	if err != nil && status.Code(err) != codes.Unimplemented { // PipeCD's users choose deploy targets themselves
		return fmt.Errorf("report the plugins of %d applications: %w", len(changed), err)
	}
	t.uses = uses
	if err != nil || !anyRegistered {
		return nil
	}
	return t.listApplications(ctx) // deployments of this pass go to the targets that they have now
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
)

// registrar reports the application configurations in Git to the control plane: applications that it does not know, and
// names, labels, descriptions and plugins that have changed.
type registrar struct {
	controlPlane pipedservice.PipedServiceClient
	applications *applications
	pipedID      string
	// selector holds the labels that an application must have to be reported when it is not registered.
	selector map[string]string
	plugins  pluginUses
	// onRegister is called when the control plane may list more applications than before.
	onRegister func()
	moves      *moves

	unregistered []*model.ApplicationInfo // as reported last
	mistaken     []Unregistered           // of the last pass
}

// Unregistered is a configuration whose application is not registered, and cannot be until a mistake is corrected.
type Unregistered struct {
	// Repository is the id.
	Repository, File string
	// Mistake is one line, NextStep says what the user does about it.
	Mistake, NextStep string
}

// report reports the configurations at the heads of the repositories.
func (r *registrar) report(ctx context.Context, snapshots map[string]snapshot) error {
	registered := r.applications.byFile()
	moved, err := r.moves.find(ctx, registered, snapshots, r.selects)
	if err != nil {
		return err // a moved application would be registered as a new one
	}
	var unregistered, differing []*model.ApplicationInfo
	var used []usedFile
	r.mistaken = nil
	gone := r.withoutFile(registered, snapshots)
	for _, id := range slices.Sorted(maps.Keys(snapshots)) {
		files := snapshots[id].files
		for _, name := range slices.Sorted(maps.Keys(files)) {
			f, a := files[name], registered[fileKey(id, name)]
			if was := moved[fileKey(id, name)]; was != nil {
				a = was
				differing = append(differing, r.move(a, f))
			}
			if a == nil && f.nameless != nil && r.hasLabels(f) {
				r.mistaken = append(r.mistaken, Unregistered{id, name, f.nameless.Error(),
					"add the name and commit it; to check the file: pipedeck validate " + name})
			}
			selected := r.selects(f)
			if a == nil && selected && f.application == nil && gone[id] != "" {
				// As another application it could not be the one that is gone any more.
				r.mistaken = append(r.mistaken, Unregistered{id, name, firstLine(f.err),
					"correct the file and commit it: it may be the new place of " + gone[id] +
						", which is kept until then; to check the file: pipedeck validate " + name})
				continue
			}
			switch {
			case a == nil && selected:
				unregistered = append(unregistered, r.info(id, f))
			case moved[fileKey(id, name)] != nil:
			case a != nil && f.application != nil && differs(a, f.application):
				differing = append(differing, r.change(a, f))
			}
			if selected && f.application != nil {
				used = append(used, usedFile{repository: id, file: f, registered: a})
			}
		}
	}
	retargeted, err := r.plugins.report(ctx, used, r.applications.fresh)
	if err != nil {
		return err // applications that are registered before would get other deploy targets
	}
	if retargeted {
		if err := r.applications.read(ctx); err != nil {
			return err // deployments of this pass would go to the targets of before
		}
	}
	if err := r.update(ctx, differing); err != nil {
		return errors.Join(err, r.register(ctx, unregistered))
	}
	if !r.moves.made(moved, r.applications.byFile()) {
		return r.report(ctx, snapshots) // those that stay where they are go on as new ones
	}
	return r.register(ctx, unregistered)
}

// withoutFile names an application without a configuration in each repository that has one.
func (r *registrar) withoutFile(registered map[string]*model.Application, snapshots map[string]snapshot,
) map[string]string {
	names := map[string]string{}
	for at := range missing(registered, snapshots) {
		if names[at.repository] == "" || at.name < names[at.repository] {
			names[at.repository] = at.name
		}
	}
	return names
}

// selects says whether an application that is not registered is reported. PipeCD v1: it must have a name
// and the labels of appSelector. A broken configuration is reported too, so that users see it somewhere;
// its labels are not known.
func (r *registrar) selects(f *file) bool {
	if f.application == nil {
		return len(r.selector) == 0
	}
	return f.name != "" && r.hasLabels(f)
}

func (r *registrar) hasLabels(f *file) bool {
	for key, value := range r.selector {
		if f.application.Labels[key] != value {
			return false
		}
	}
	return true
}

func (r *registrar) info(repositoryID string, f *file) *model.ApplicationInfo {
	info := &model.ApplicationInfo{
		Name: f.name, Kind: kindOf(f), RepoId: repositoryID, Path: gitPathOf(f.dir()), ConfigFilename: f.base(),
		PipedId: r.pipedID,
	}
	if f.application != nil {
		info.Labels, info.Description = maps.Clone(f.application.Labels), f.application.Description
	}
	return info
}

// register reports the whole list when it has changed, and after each listing of the applications: PipeCD
// v1's control plane keeps it in a cache only. A control plane that registers the applications at once has a new answer
// to ListApplications then.
func (r *registrar) register(ctx context.Context, list []*model.ApplicationInfo) error {
	same := slices.EqualFunc(list, r.unregistered, func(a, b *model.ApplicationInfo) bool { return proto.Equal(a, b) })
	if same && (len(list) == 0 || !r.applications.fresh) {
		return nil
	}
	_, err := r.controlPlane.ReportUnregisteredApplicationConfigurations(
		ctx, &pipedservice.ReportUnregisteredApplicationConfigurationsRequest{Applications: list},
	)
	if err != nil {
		return fmt.Errorf("report %d applications that are not registered: %w", len(list), err)
	}
	r.unregistered = list
	if !same && len(list) > 0 {
		r.onRegister()
	}
	return nil
}

func differs(a *model.Application, c *config.Application) bool {
	return c.Name != "" && c.Name != a.GetName() || c.Description != a.GetDescription() || !maps.Equal(
		c.Labels, a.GetLabels(),
	)
}

func (r *registrar) change(a *model.Application, f *file) *model.ApplicationInfo {
	info := r.info(a.GetGitPath().GetRepo().GetId(), f)
	info.Id, info.Path, info.Kind = a.GetId(), a.GetGitPath().GetPath(), a.GetKind()
	if info.Name == "" {
		info.Name = a.GetName()
	}
	return info
}

// move is the change of an application to another configuration file.
func (r *registrar) move(a *model.Application, f *file) *model.ApplicationInfo {
	info := r.change(a, f)
	info.Path = gitPathOf(f.dir())
	return info
}

// update reports the changes and reads the applications again: a control plane may give them
// other deploy targets, and deployments of this pass go there.
func (r *registrar) update(ctx context.Context, list []*model.ApplicationInfo) error {
	if len(list) == 0 {
		return nil
	}
	_, err := r.controlPlane.UpdateApplicationConfigurations(
		ctx, &pipedservice.UpdateApplicationConfigurationsRequest{Applications: list},
	)
	if err != nil {
		return fmt.Errorf("report the changed configurations of %d applications: %w", len(list), err)
	}
	if err := r.applications.read(ctx); err != nil {
		return err
	}
	r.applications.amend(list)
	return nil
}

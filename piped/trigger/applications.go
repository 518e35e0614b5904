// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
)

// candidate is an application together with what Git says of it, for one pass.
type candidate struct {
	application *model.Application
	repository  *repository
	snapshot    snapshot
	// config is nil when err says why the application cannot be deployed.
	config *config.Application
	err    error
	// deployed is set when this pass has created a deployment.
	deployed bool
}

// listApplications fetches the enabled applications of this piped.
func (t *Trigger) listApplications(ctx context.Context) error {
	answer, err := t.options.ControlPlane.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	if err != nil {
		return fmt.Errorf("list the applications: %w", err)
	}
	t.applications = answer.GetApplications()
	t.byID = make(map[string]int, len(t.applications))
	for i, a := range t.applications {
		t.byID[a.GetId()] = i
	}
	maps.DeleteFunc(t.newest, func(id, _ string) bool { return t.findApplication(id) == nil })
	maps.DeleteFunc(t.mistakes, func(id string, _ mistake) bool { return t.findApplication(id) == nil })
	for _, a := range t.applications {
		if r := t.repositories[a.GetGitPath().GetRepo().GetId()]; r != nil {
			r.include(configFileOf(a))
		}
	}
	return nil
}

// candidates are the applications whose repository could be read, in the control plane's order.
func (t *Trigger) candidates() []*candidate {
	var list []*candidate
	for _, a := range t.applications {
		id := a.GetGitPath().GetRepo().GetId()
		now, known := t.snapshots[id]
		if !known || now.head.Hash == "" {
			continue
		}
		c := &candidate{application: a, repository: t.repositories[id], snapshot: now}
		switch f := now.files[configFileOf(a)]; {
		case f == nil:
			c.err = fmt.Errorf(
				"%s does not exist at commit %s of branch %s: add the file, or remove the application", configFileOf(a),
				now.head.Hash, c.repository.git.Branch(),
			)
		case f.err != nil:
			c.err = f.err
		default:
			c.config = f.application
		}
		list = append(list, c)
	}
	return list
}

// reportConfigurations tells the control plane of applications that it does not know, and of names, labels
// and descriptions that have changed.
func (t *Trigger) reportConfigurations(ctx context.Context) error {
	registered := map[string]*model.Application{}
	for _, a := range t.applications {
		registered[a.GetGitPath().GetRepo().GetId()+"\x00"+configFileOf(a)] = a
	}
	var unregistered, differing []*model.ApplicationInfo
	for _, id := range slices.Sorted(maps.Keys(t.snapshots)) {
		files := t.snapshots[id].files
		for _, name := range slices.Sorted(maps.Keys(files)) {
			f := files[name]
			a := registered[id+"\x00"+name]
			switch {
			case a == nil && t.selects(f):
				unregistered = append(unregistered, t.info(id, f))
			case a != nil && f.application != nil && differs(a, f.application):
				differing = append(differing, t.change(a, f))
			}
		}
	}
	if err := t.reportPlugins(ctx, registered); err != nil {
		return err // applications that are registered before would get other deploy targets
	}
	return errors.Join(t.update(ctx, differing), t.register(ctx, unregistered))
}

// selects says whether an application that is not registered is reported. PipeCD v1: it must have a name
// and the labels of appSelector. A broken configuration is reported too, so that users see it somewhere;
// its labels are not known.
func (t *Trigger) selects(f *file) bool {
	if f.application == nil {
		return len(t.options.AppSelector) == 0
	}
	for key, value := range t.options.AppSelector {
		if f.application.Labels[key] != value {
			return false
		}
	}
	return f.name != ""
}

func (t *Trigger) info(repositoryID string, f *file) *model.ApplicationInfo {
	info := &model.ApplicationInfo{
		Name: f.name, Kind: kindOf(f), RepoId: repositoryID, Path: gitPathOf(f.dir()), ConfigFilename: f.base(),
		PipedId: t.options.PipedID,
	}
	if f.application != nil {
		info.Labels, info.Description = maps.Clone(f.application.Labels), f.application.Description
	}
	return info
}

// register reports the whole list when it has changed, and after each listing of the applications: PipeCD
// v1's control plane keeps it in a cache only. One that registers the applications at once has a new answer
// to ListApplications then.
func (t *Trigger) register(ctx context.Context, list []*model.ApplicationInfo) error {
	same := slices.EqualFunc(list, t.unregistered, func(a, b *model.ApplicationInfo) bool { return proto.Equal(a, b) })
	if same && (len(list) == 0 || !t.freshList) {
		return nil
	}
	_, err := t.options.ControlPlane.ReportUnregisteredApplicationConfigurations(
		ctx, &pipedservice.ReportUnregisteredApplicationConfigurationsRequest{Applications: list},
	)
	if err != nil {
		return fmt.Errorf("report %d applications that are not registered: %w", len(list), err)
	}
	t.unregistered = list
	if !same && len(list) > 0 {
		t.ApplicationsChanged()
	}
	return nil
}

func differs(a *model.Application, c *config.Application) bool {
	return c.Name != "" && c.Name != a.GetName() || c.Description != a.GetDescription() || !maps.Equal(
		c.Labels, a.GetLabels(),
	)
}

func (t *Trigger) change(a *model.Application, f *file) *model.ApplicationInfo {
	info := t.info(a.GetGitPath().GetRepo().GetId(), f)
	info.Id, info.Path, info.Kind = a.GetId(), a.GetGitPath().GetPath(), a.GetKind()
	if info.Name == "" {
		info.Name = a.GetName()
	}
	return info
}

// update reports the changes and takes the applications as they are then: a control plane may give them
// other deploy targets, and deployments of this pass go there. What it is slow to show is changed here.
func (t *Trigger) update(ctx context.Context, list []*model.ApplicationInfo) error {
	if len(list) == 0 {
		return nil
	}
	_, err := t.options.ControlPlane.UpdateApplicationConfigurations(
		ctx, &pipedservice.UpdateApplicationConfigurationsRequest{Applications: list},
	)
	if err != nil {
		return fmt.Errorf("report the changed configurations of %d applications: %w", len(list), err)
	}
	if err := t.listApplications(ctx); err != nil {
		return err
	}
	changed := map[string]*model.ApplicationInfo{}
	for _, info := range list {
		changed[info.GetId()] = info
	}
	for i, a := range t.applications {
		if info := changed[a.GetId()]; info != nil {
			a = proto.CloneOf(a)
			a.Name, a.Description, a.Labels = info.GetName(), info.GetDescription(), info.GetLabels()
			t.applications[i] = a
		}
	}
	return nil
}

// findApplication returns the application with the id; nil when it is unknown, disabled or another piped's.
func (t *Trigger) findApplication(id string) *model.Application {
	if i, known := t.byID[id]; known {
		return t.applications[i]
	}
	return nil
}

// configFileOf is where the configuration of a registered application is, relative to the repository.
func configFileOf(a *model.Application) string {
	name := a.GetGitPath().GetConfigFilename()
	if name == "" {
		name = config.DefaultApplicationFilename
	}
	return path.Join(a.GetGitPath().GetPath(), name)
}

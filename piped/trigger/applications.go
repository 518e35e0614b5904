// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"fmt"
	"path"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
)

// applications are the enabled applications of this piped, as the control plane listed them last.
type applications struct {
	controlPlane pipedservice.PipedServiceClient
	// onList is called after each list.
	onList func()

	list []*model.Application
	byID map[string]int // index in list
	// current is false while the control plane may have another list; fresh reports that refresh has read it in the
	// pass under way.
	current, fresh bool
}

// begin begins a pass. changed reports that the control plane has another list.
func (a *applications) begin(changed bool) {
	a.fresh = false
	if changed {
		a.expire()
	}
}

// expire has refresh read the list.
func (a *applications) expire() { a.current = false }

// refresh reads the list if it may have changed.
func (a *applications) refresh(ctx context.Context) error {
	if a.current {
		return nil
	}
	if err := a.read(ctx); err != nil {
		return err
	}
	a.current, a.fresh = true, true
	return nil
}

// read reads the list.
func (a *applications) read(ctx context.Context) error {
	answer, err := a.controlPlane.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	if err != nil {
		return fmt.Errorf("list the applications: %w", err)
	}
	a.list = answer.GetApplications()
	a.byID = make(map[string]int, len(a.list))
	for i, one := range a.list {
		a.byID[one.GetId()] = i
	}
	a.onList()
	return nil
}

// find returns the application with the id; nil when it is unknown, disabled or another piped's.
func (a *applications) find(id string) *model.Application {
	if i, known := a.byID[id]; known {
		return a.list[i]
	}
	return nil
}

// byFile returns the applications by repository and configuration file; see fileKey.
func (a *applications) byFile() map[string]*model.Application {
	registered := make(map[string]*model.Application, len(a.list))
	for _, one := range a.list {
		registered[fileKey(one.GetGitPath().GetRepo().GetId(), configFileOf(one))] = one
	}
	return registered
}

// amend changes what this piped has reported, and the control plane may be slow to show.
func (a *applications) amend(reported []*model.ApplicationInfo) {
	for _, info := range reported {
		i, known := a.byID[info.GetId()]
		if !known {
			continue
		}
		amended := proto.CloneOf(a.list[i])
		amended.Name, amended.Description, amended.Labels = info.GetName(), info.GetDescription(), info.GetLabels()
		a.list[i] = amended
	}
}

// fileKey identifies a configuration file of all repositories.
func fileKey(repository, file string) string { return repository + "\x00" + file }

// configFileOf is where the configuration of a registered application is, relative to the repository.
func configFileOf(a *model.Application) string {
	name := a.GetGitPath().GetConfigFilename()
	if name == "" {
		name = config.DefaultApplicationFilename
	}
	return path.Join(a.GetGitPath().GetPath(), name)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planpreview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/trigger/due"
)

// subject is an application that the change concerns.
type subject struct {
	application *model.Application
	// config is nil when removed is set, or err says why the application could not be deployed.
	config  *config.Application
	removed bool
	err     error
	// mistakes are those with which it would be deployed all the same.
	mistakes config.Errors
}

// read reads the configuration of the application.
func (m *Maker) read(s *subject, data []byte, file string) {
	if s.config, s.err = config.ParseApplication(data, file); s.err == nil {
		s.mistakes = append(slices.Clone(s.config.Unread), m.options.Mistakes(data, file)...)
	}
}

// concerned are the applications that would be deployed, in the control plane's order, and then those that the change
// adds.
func (m *Maker) concerned(ctx context.Context, c *change, registered []*model.Application) ([]subject, error) {
	var list []subject
	known := map[string]bool{}
	for _, a := range registered {
		repo := a.GetGitPath().GetRepo()
		if repo.GetId() != c.mirror.ID() || a.GetDisabled() || a.GetDeleted() {
			continue
		}
		known[configFileOf(a)] = true
		s, due, err := m.judge(ctx, c, a)
		if err != nil {
			return nil, fmt.Errorf("decide whether application %s would be deployed: %w", a.GetName(), err)
		}
		if due {
			list = append(list, s)
		}
	}
	added, err := m.added(ctx, c, known)
	return append(list, added...), err
}

// judge decides about one application.
func (m *Maker) judge(ctx context.Context, c *change, a *model.Application) (subject, bool, error) {
	file := configFileOf(a)
	s := subject{application: a}
	data, err := c.mirror.ReadFile(ctx, c.merged.Hash, file)
	if errors.Is(err, fs.ErrNotExist) {
		s.removed = true
		return s, slices.Contains(c.files, file), nil
	}
	if err != nil {
		return s, false, err
	}
	if m.read(&s, data, file); s.err != nil {
		return s, c.touches(a.GetGitPath().GetPath()), nil
	}
	previous := a.GetMostRecentlyTriggeredDeployment().GetTrigger().GetCommit().GetHash()
	changed := func() ([]string, error) { return c.mirror.ChangedFiles(ctx, previous, c.merged.Hash) }
	_, isDue, err := due.OnCommit(s.config.Trigger.OnCommit, a.GetGitPath().GetPath(), previous, c.merged.Hash, changed)
	return s, isDue, err
}

// touches reports whether the change has a file in the directory.
func (c *change) touches(dir string) bool {
	dir = path.Clean(dir)
	return slices.ContainsFunc(
		c.files, func(file string) bool { return dir == "." || strings.HasPrefix(file, dir+"/") },
	)
}

// added are applications whose configuration comes with the change. No one has registered them, so their ids are made
// up, and they are taken to go to all deploy targets.
func (m *Maker) added(ctx context.Context, c *change, known map[string]bool) ([]subject, error) {
	var list []subject
	for _, file := range c.files {
		if known[file] || !config.IsApplicationFilename(file) {
			continue
		}
		data, err := c.mirror.ReadFile(ctx, c.merged.Hash, file)
		if err == nil {
			// One that is there already is disabled, or no one wants it.
			_, before := c.mirror.ReadFile(ctx, c.base.Hash, file)
			if !errors.Is(before, fs.ErrNotExist) {
				continue
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s := subject{application: m.newcomer(c, file)}
		if m.read(&s, data, file); s.err == nil {
			s.application.Name, s.application.Labels = s.config.Name, maps.Clone(s.config.Labels)
			if s.config.Name == "" || !hasLabels(
				s.config.Labels, m.options.AppSelector,
			) || s.config.Trigger.OnCommit.Disabled {
				continue
			}
		}
		list = append(list, s)
	}
	return list, nil
}

func (m *Maker) newcomer(c *change, file string) *model.Application {
	dir := path.Dir(file)
	a := &model.Application{
		Id:        uuid.NewSHA1(uuid.NameSpaceURL, []byte(c.mirror.ID()+"\x00"+file)).String(),
		Name:      path.Base(dir),
		PipedId:   m.options.PipedID,
		ProjectId: m.options.ProjectID,
		GitPath: &model.ApplicationGitPath{
			Repo: &model.ApplicationGitRepository{
				Id: c.mirror.ID(), Remote: c.mirror.Remote(), Branch: c.mirror.Branch(),
			},
			Path: dir, ConfigFilename: path.Base(file),
		},
		DeployTargetsByPlugin: map[string]*model.DeployTargets{},
	}
	for plugin, targets := range m.options.Targets {
		if len(targets) > 0 {
			a.DeployTargetsByPlugin[plugin] = &model.DeployTargets{DeployTargets: slices.Clone(targets)}
		}
	}
	return a
}

func hasLabels(labels, wanted map[string]string) bool {
	for key, value := range wanted {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// configFileOf is where the configuration of an application is, relative to the repository.
func configFileOf(a *model.Application) string {
	return path.Join(
		a.GetGitPath().GetPath(), cmp.Or(a.GetGitPath().GetConfigFilename(), config.DefaultApplicationFilename),
	)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
)

// The namespace that application ids are derived in; any fixed value does.
var applicationSpace = uuid.MustParse("6f0e9a52-7c0f-4e0b-9d39-5d2f0f2c8b11")

const defaultConfigFilename = "app.pipecd.yaml"

// ApplicationID returns the id of the application at a place in Git: the same one whenever and
// wherever it is registered.
func ApplicationID(repoID, path, configFilename string) string {
	return uuid.NewSHA1(applicationSpace, []byte(repoID+"\x00"+path+"\x00"+configFilename)).String()
}

// RegisterApplications registers every application of the list that is not known yet, with all
// deploy targets of the piped. It skips what a user deleted and repositories that the piped did
// not report, and returns the names of the new ones.
func (s *Store) RegisterApplications(pipedID string, found []*model.ApplicationInfo) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.piped(pipedID)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, info := range found {
		path, err := s.completePath(pipedID, &model.ApplicationGitPath{
			Repo: &model.ApplicationGitRepository{Id: info.GetRepoId()}, Path: info.GetPath(), ConfigFilename: info.GetConfigFilename(),
		})
		if err != nil {
			continue
		}
		id := ApplicationID(info.GetRepoId(), info.GetPath(), path.GetConfigFilename())
		if s.applications[id] != nil || s.applicationAt(path) != nil {
			continue
		}
		if len(s.applications) >= s.limits.Applications {
			return names, exhausted("%d applications are registered already; delete some with `pipectl application delete`", s.limits.Applications)
		}
		a := s.newApplication(id, info.GetName(), pipedID, path)
		a.automatic = true
		a.model.Kind, a.model.Description = info.GetKind(), info.GetDescription()
		a.model.Labels = maps.Clone(info.GetLabels())
		a.model.DeployTargetsByPlugin = p.deployTargets(info.GetLabels())
		s.applicationChanged(a)
		names = append(names, info.GetName())
	}
	return names, nil
}

// AddApplication registers an application on a user's word and returns its id. The repository is
// completed from what the piped reported. An application that is there already is updated.
func (s *Store) AddApplication(m *model.Application) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, err := s.completePath(m.GetPipedId(), m.GetGitPath())
	if err != nil {
		return "", err
	}
	a := s.applicationAt(path)
	switch {
	case a == nil:
		if len(s.applications) >= s.limits.Applications {
			return "", exhausted("%d applications are registered already; delete some first", s.limits.Applications)
		}
		id := ApplicationID(path.GetRepo().GetId(), path.GetPath(), path.GetConfigFilename())
		if s.applications[id] != nil { // it was moved to another place since
			id = newID()
		}
		a = s.newApplication(id, m.GetName(), m.GetPipedId(), path)
	case a.model.GetDeleted():
		a = s.newApplication(a.model.GetId(), m.GetName(), m.GetPipedId(), path)
	}
	a.model.Name, a.model.PipedId, a.model.GitPath = m.GetName(), m.GetPipedId(), path
	a.model.Kind, a.model.Description, a.model.Labels = m.GetKind(), m.GetDescription(), maps.Clone(m.GetLabels())
	a.model.PlatformProvider, a.model.CloudProvider = m.GetPlatformProvider(), m.GetPlatformProvider()
	s.applicationChanged(a)
	return a.model.GetId(), nil
}

// ImportApplication stores an application as it is, with the id that it has elsewhere.
func (s *Store) ImportApplication(m *model.Application) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &application{model: proto.CloneOf(m)}
	s.applications[m.GetId()] = a
	s.publish(Change{Application: s.applicationView(a)})
	s.signal(m.GetPipedId(), applicationsChanged)
}

// UpdateApplicationInfo takes over name, description and labels from Git.
func (s *Store) UpdateApplicationInfo(pipedID string, infos []*model.ApplicationInfo) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, info := range infos {
		if _, err := s.ownedApplication(pipedID, info.GetId()); err != nil {
			return err
		}
	}
	for _, info := range infos {
		a := s.applications[info.GetId()]
		m := a.model
		if m.GetName() == info.GetName() && m.GetDescription() == info.GetDescription() && maps.Equal(m.GetLabels(), info.GetLabels()) {
			continue
		}
		m.Name, m.Description, m.Labels = info.GetName(), info.GetDescription(), maps.Clone(info.GetLabels())
		if p, err := s.piped(pipedID); err == nil && a.automatic {
			m.DeployTargetsByPlugin = p.deployTargets(m.Labels)
		}
		s.applicationChanged(a)
	}
	return nil
}

// refreshDeployTargets gives applications that nobody set targets for those that their piped has
// now. The caller holds s.mu.
func (s *Store) refreshDeployTargets(p *piped) {
	for _, a := range s.applications {
		if a.model.GetPipedId() != p.model.GetId() || a.model.GetDeleted() {
			continue
		}
		if !a.automatic {
			if len(a.model.GetDeployTargetsByPlugin()) == 0 { // shown with the piped's
				s.applicationChanged(a)
			}
			continue
		}
		targets := p.deployTargets(a.model.GetLabels())
		if !maps.EqualFunc(a.model.GetDeployTargetsByPlugin(), targets, func(x, y *model.DeployTargets) bool { return proto.Equal(x, y) }) {
			a.model.DeployTargetsByPlugin = targets
			s.applicationChanged(a)
		}
	}
}

// newApplication adds an application without publishing it.
func (s *Store) newApplication(id, name, pipedID string, path *model.ApplicationGitPath) *application {
	now := s.now().Unix()
	a := &application{model: &model.Application{
		Id: id, Name: name, PipedId: pipedID, ProjectId: s.project, GitPath: path, CreatedAt: now, UpdatedAt: now,
	}}
	s.applications[id] = a
	return a
}

// applicationAt returns the application at a place in Git, deleted or not; nil when there is none.
func (s *Store) applicationAt(path *model.ApplicationGitPath) *application {
	for _, a := range s.applications {
		p := a.model.GetGitPath()
		if p.GetRepo().GetId() == path.GetRepo().GetId() && p.GetPath() == path.GetPath() && p.GetConfigFilename() == path.GetConfigFilename() {
			return a
		}
	}
	return nil
}

func (s *Store) completePath(pipedID string, path *model.ApplicationGitPath) (*model.ApplicationGitPath, error) {
	p, err := s.piped(pipedID)
	if err != nil {
		return nil, err
	}
	repo := p.repository(path.GetRepo().GetId())
	if repo == nil {
		return nil, notFound("The requested repository is not found in the Piped configuration")
	}
	complete := &model.ApplicationGitPath{Repo: repo, Path: path.GetPath(), ConfigFilename: path.GetConfigFilename()}
	if complete.ConfigFilename == "" {
		complete.ConfigFilename = defaultConfigFilename
	}
	complete.Url = directoryURL(repo, path.GetPath())
	return complete, nil
}

// directoryURL is where a browser finds the directory, as PipeCD v1 writes it; empty when the
// remote has no such form.
func directoryURL(repo *model.ApplicationGitRepository, path string) string {
	remote := strings.TrimSuffix(repo.GetRemote(), ".git")
	if user, rest, found := strings.Cut(remote, "@"); found && !strings.Contains(remote, "://") && !strings.Contains(user, "/") {
		remote = "https://" + strings.Replace(rest, ":", "/", 1)
	}
	u, err := url.Parse(remote)
	if err != nil || u.Scheme == "" {
		return ""
	}
	if u.Scheme == "ssh" {
		u.Scheme, u.Host = "https", u.Hostname()
	}
	return fmt.Sprintf("%s://%s%s/tree/%s/%s", u.Scheme, u.Host, u.Path, repo.GetBranch(), path)
}

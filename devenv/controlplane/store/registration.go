// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// The namespace that application ids are derived in; any fixed value does.
var applicationSpace = uuid.MustParse("6f0e9a52-7c0f-4e0b-9d39-5d2f0f2c8b11")

const defaultConfigFilename = "app.pipecd.yaml"

// ApplicationID returns the id that an application of a piped gets at a place in Git: the same id at each
// registration, and another one for each piped.
func ApplicationID(pipedID, repoID, path, configFilename string) string {
	return uuid.NewSHA1(applicationSpace, []byte(pipedID+"\x00"+repoID+"\x00"+path+"\x00"+configFilename)).String()
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
		if s.index.places[placeOf(pipedID, path)] != nil {
			continue
		}
		if err := s.roomForApplication(); err != nil {
			return names, err
		}
		a := s.newApplication(s.idAt(pipedID, path), info.GetName(), pipedID, path)
		a.automatic = true
		a.model.Kind, a.model.Description = info.GetKind(), info.GetDescription()
		a.model.Labels = maps.Clone(info.GetLabels())
		a.use(p)
		a.model.DeployTargetsByPlugin = p.deployTargets(info.GetLabels(), a.uses)
		s.applicationChanged(a)
		names = append(names, info.GetName())
	}
	return names, nil
}

// AddApplication registers an application on a user's word and returns its id. The repository is
// completed from what the piped reported. An application of the piped that is at this place already is
// returned as it is; AlreadyExists when it has another kind or platform provider than the user names.
func (s *Store) AddApplication(m *model.Application) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, err := s.completePath(m.GetPipedId(), m.GetGitPath())
	if err != nil {
		return "", err
	}
	there := s.index.places[placeOf(m.GetPipedId(), path)]
	if there != nil && !there.model.GetDeleted() {
		return there.model.GetId(), agrees(there.model, m)
	}
	if err := s.roomForApplication(); err != nil {
		return "", err
	}
	id := s.idAt(m.GetPipedId(), path)
	if there != nil { // it was deleted
		id = there.model.GetId()
	}
	a := s.newApplication(id, m.GetName(), m.GetPipedId(), path)
	a.use(s.pipeds[m.GetPipedId()])
	a.model.Kind, a.model.Description, a.model.Labels = m.GetKind(), m.GetDescription(), maps.Clone(m.GetLabels())
	a.model.PlatformProvider, a.model.CloudProvider = m.GetPlatformProvider(), m.GetPlatformProvider()
	s.applicationChanged(a)
	return id, nil
}

// agrees reports that a registered application is of another kind, or for another platform provider, than
// a user wants to add. A provider that either does not name agrees with all.
func agrees(there, wanted *model.Application) error {
	has, wants := there.GetPlatformProvider(), wanted.GetPlatformProvider()
	if there.GetKind() == wanted.GetKind() && (has == "" || wants == "" || has == wants) {
		return nil
	}
	return alreadyExists("application %s (%s) is registered at this place already, with kind %s and platform provider %q; "+
		"delete it first, with: pipectl application delete --app-id=%s",
		there.GetName(), there.GetId(), there.GetKind(), has, there.GetId())
}

// ImportApplication stores an application as it is, with the id that it has elsewhere.
func (s *Store) ImportApplication(m *model.Application) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &application{model: proto.CloneOf(m)}
	s.putApplication(a)
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
			m.DeployTargetsByPlugin = p.deployTargets(m.Labels, a.uses)
		}
		s.applicationChanged(a)
	}
	return nil
}

// refreshDeployTargets gives applications that nobody set targets for those that their piped has
// now. The caller holds s.mu.
func (s *Store) refreshDeployTargets(p *piped) {
	for _, a := range s.index.pipeds[p.model.GetId()] {
		s.refreshTargetsOf(p, a)
	}
}

func (s *Store) refreshTargetsOf(p *piped, a *application) {
	if !a.automatic {
		if len(a.model.GetDeployTargetsByPlugin()) == 0 || a.model.GetPlatformProvider() == "" { // shown with the piped's
			s.applicationChanged(a)
		}
		return
	}
	targets := p.deployTargets(a.model.GetLabels(), a.uses)
	same := maps.EqualFunc(a.model.GetDeployTargetsByPlugin(), targets, func(x, y *model.DeployTargets) bool { return proto.Equal(x, y) })
	if !same || len(p.model.GetPlatformProviders()) > 0 {
		a.model.DeployTargetsByPlugin = targets
		s.applicationChanged(a)
	}
}

// ReportApplicationPlugins stores which plugins applications of a piped use, also of those that are not registered yet.
func (s *Store) ReportApplicationPlugins(pipedID string, applications []*agentv1.ApplicationPlugins) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.piped(pipedID)
	if err != nil {
		return err
	}
	for _, reported := range applications {
		at := place{pipedID, reported.GetRepoId(), reported.GetPath(), cmp.Or(reported.GetConfigFilename(), defaultConfigFilename)}
		if _, known := p.uses[at]; !known && len(p.uses) >= s.limits.Applications {
			return exhausted("the plugins of %d applications are known already", len(p.uses))
		}
		if p.uses == nil {
			p.uses = map[place][]string{}
		}
		p.uses[at] = slices.Clone(reported.GetPlugins())
		if a := s.index.places[at]; a != nil && !a.model.GetDeleted() {
			a.use(p)
			s.refreshTargetsOf(p, a)
		}
	}
	return nil
}

// use takes over what the piped has reported of the application's plugins.
func (a *application) use(p *piped) {
	if names, known := p.uses[a.filed]; known {
		a.uses = &names
	}
}

// newApplication adds an application without publishing it.
func (s *Store) newApplication(id, name, pipedID string, path *model.ApplicationGitPath) *application {
	now := s.now().Unix()
	a := &application{model: &model.Application{
		Id: id, Name: name, PipedId: pipedID, ProjectId: s.project, GitPath: path, CreatedAt: now, UpdatedAt: now,
	}}
	s.putApplication(a)
	return a
}

// idAt returns the id of a new application at a place.
func (s *Store) idAt(pipedID string, path *model.ApplicationGitPath) string {
	id := ApplicationID(pipedID, path.GetRepo().GetId(), path.GetPath(), path.GetConfigFilename())
	if s.applications[id] != nil { // that application was moved to another place
		return newID()
	}
	return id
}

// putApplication adds an application, in place of the one with its id.
func (s *Store) putApplication(a *application) {
	if before := s.applications[a.model.GetId()]; before != nil {
		s.index.remove(before)
	}
	s.applications[a.model.GetId()] = a
	s.index.file(a)
}

func (s *Store) roomForApplication() error {
	if s.index.registered >= s.limits.Applications {
		return exhausted("%d applications are registered already; delete some with `pipectl application delete`", s.limits.Applications)
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

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
)

// Application is an application with what the store knows beside the model. Shared: do not change.
type Application struct {
	Model *model.Application
	// Health is worked out from the last live state.
	Health model.ApplicationLiveState_Status
	// Counts are of the last live state.
	Counts ResourceCounts
	// LatestDeploymentID is empty before the first deployment.
	LatestDeploymentID string
}

type application struct {
	model *model.Application
	// filed is the place under which the index has it.
	filed place
	// Deploy targets follow the piped's configuration until somebody sets them.
	automatic bool
	// uses are the plugins that its configuration uses; nil while its piped has not reported them.
	uses   *[]string
	live   *model.ApplicationLiveStateSnapshot
	counts ResourceCounts
	// news is closed at the next live state; nil while nobody waits.
	news   chan struct{}
	latest string
}

// Application returns the application as stored.
func (s *Store) Application(id string) (*model.Application, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.application(id)
	if err != nil {
		return nil, err
	}
	return proto.CloneOf(a.model), nil
}

// Applications returns a page of the registered applications that match, the one updated last in front, and whether
// there are more.
func (s *Store) Applications(match func(*model.Application) bool, after Position, b Bounds) (page []*model.Application, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*application
	for _, a := range s.applications {
		if !a.model.GetDeleted() && after.before(a.model.GetUpdatedAt(), a.model.GetId()) && match(a.model) {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, func(a, b *application) int {
		return cmp.Or(cmp.Compare(b.model.GetUpdatedAt(), a.model.GetUpdatedAt()), cmp.Compare(a.model.GetId(), b.model.GetId()))
	})
	return pageOf(found, func(a *application) *model.Application { return proto.CloneOf(a.model) }, b)
}

// PipedApplications returns a page of the enabled applications of a piped, with the deploy targets that they are
// deployed to, and whether there are more. They are ordered by name and id; the page begins after that name and id.
func (s *Store) PipedApplications(pipedID, afterName, afterID string, b Bounds) (page []*model.Application, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*application
	for _, a := range s.index.pipeds[pipedID] {
		if !a.model.GetDisabled() && cmp.Or(cmp.Compare(a.model.GetName(), afterName), cmp.Compare(a.model.GetId(), afterID)) > 0 {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, func(a, b *application) int {
		return cmp.Or(cmp.Compare(a.model.GetName(), b.model.GetName()), cmp.Compare(a.model.GetId(), b.model.GetId()))
	})
	return pageOf(found, s.effective, b)
}

// SetApplicationDisabled stops or resumes deployments of an application.
func (s *Store) SetApplicationDisabled(id string, disabled bool) error {
	return s.changeApplication(id, func(a *application) error {
		a.model.Disabled = disabled
		return nil
	})
}

// DeleteApplication removes an application. It stays away, although Git still holds it, until
// somebody adds it again.
func (s *Store) DeleteApplication(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.application(id)
	if err != nil {
		return err
	}
	now := s.now().Unix()
	a.model.Deleted, a.model.DeletedAt, a.model.UpdatedAt = true, now, now
	s.index.file(a)
	s.boundDeleted()
	a.live, a.counts = nil, ResourceCounts{}
	a.tellNews()
	s.removeObjects(id)
	delete(s.analyses, id)
	s.publish(Change{RemovedApplication: id})
	s.signal(a.model.GetPipedId(), applicationsChanged)
	return nil
}

// SetDeployTargets replaces the deploy targets of an application.
func (s *Store) SetDeployTargets(id string, targets map[string]*model.DeployTargets) error {
	return s.changeApplication(id, func(a *application) error {
		a.model.DeployTargetsByPlugin = targets
		a.automatic = false
		return nil
	})
}

// MoveApplication changes the piped, the platform provider and the place in Git.
func (s *Store) MoveApplication(id, pipedID, platformProvider string, path *model.ApplicationGitPath) error {
	return s.changeApplication(id, func(a *application) error {
		path, err := s.completePath(pipedID, path)
		if err != nil {
			return err
		}
		if err := s.free(a, placeOf(pipedID, path)); err != nil {
			return err
		}
		if old := a.model.GetPipedId(); old != pipedID {
			s.signal(old, applicationsChanged)
		}
		a.model.PipedId, a.model.GitPath = pipedID, path
		a.model.PlatformProvider, a.model.CloudProvider = platformProvider, platformProvider
		s.index.file(a)
		return nil
	})
}

// RenameConfigFile changes the name of the configuration file of each application, or of none.
func (s *Store) RenameConfigFile(ids []string, filename string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		a, err := s.application(id)
		if err != nil {
			return err
		}
		renamed := placeOf(a.model.GetPipedId(), a.model.GetGitPath())
		renamed.file = filename
		if err := s.free(a, renamed); err != nil {
			return err
		}
	}
	for _, id := range ids {
		a := s.applications[id]
		if a.model.GitPath == nil { // as a restored application may be
			a.model.GitPath = &model.ApplicationGitPath{}
		}
		a.model.GitPath.ConfigFilename = filename
		s.index.file(a)
		s.applicationChanged(a)
	}
	return nil
}

// free reports an application other than a at a place.
func (s *Store) free(a *application, at place) error {
	if other := s.index.places[at]; other != nil && other != a && !other.model.GetDeleted() {
		return alreadyExists("application %s (%s) has its configuration at %s/%s of repository %s already",
			other.model.GetName(), other.model.GetId(), at.path, at.file, at.repo)
	}
	return nil
}

// boundDeleted forgets the application that was deleted first when there are more deleted ones than
// registered ones may be.
func (s *Store) boundDeleted() {
	if len(s.applications)-s.index.registered <= s.limits.Applications {
		return
	}
	var first *application
	for _, a := range s.applications {
		if a.model.GetDeleted() && (first == nil || a.model.GetDeletedAt() < first.model.GetDeletedAt()) {
			first = a
		}
	}
	s.index.remove(first)
	delete(s.applications, first.model.GetId())
}

func (s *Store) changeApplication(id string, change func(*application) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.application(id)
	if err != nil {
		return err
	}
	if err := change(a); err != nil {
		return err
	}
	s.applicationChanged(a)
	return nil
}

// applicationChanged stamps, publishes and signals a change that did not come from piped.
func (s *Store) applicationChanged(a *application) {
	a.model.UpdatedAt = s.now().Unix()
	s.publish(Change{Application: s.applicationView(a)})
	s.signal(a.model.GetPipedId(), applicationsChanged)
}

func (s *Store) application(id string) (*application, error) {
	if a := s.applications[id]; a != nil && !a.model.GetDeleted() {
		return a, nil
	}
	return nil, notFound("Application is not found")
}

func (s *Store) ownedApplication(pipedID, id string) (*application, error) {
	a, err := s.application(id)
	if err != nil {
		return nil, err
	}
	if a.model.GetPipedId() != pipedID {
		return nil, denied("application %s belongs to another piped", id)
	}
	return a, nil
}

func (s *Store) applicationView(a *application) *Application {
	return &Application{Model: s.effective(a), Health: health(a.live), Counts: a.counts, LatestDeploymentID: a.latest}
}

// effective is the application with the targets and the platform provider that it is deployed to: those of its piped
// when nobody set any, as pipectl cannot.
func (s *Store) effective(a *application) *model.Application {
	m := proto.CloneOf(a.model)
	p := s.pipeds[m.GetPipedId()]
	if p != nil && len(m.GetDeployTargetsByPlugin()) == 0 {
		m.DeployTargetsByPlugin = p.deployTargets(m.GetLabels(), a.uses)
	}
	if p != nil && m.GetPlatformProvider() == "" {
		m.PlatformProvider = p.platformProvider(m.GetKind(), m.GetLabels())
		m.CloudProvider = m.GetPlatformProvider()
	}
	return m
}

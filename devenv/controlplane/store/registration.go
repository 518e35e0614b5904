// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"maps"
	"slices"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// The namespace that application ids are derived in; any fixed value does.
var applicationSpace = uuid.MustParse("6f0e9a52-7c0f-4e0b-9d39-5d2f0f2c8b11")

// ApplicationID returns the id that an application of a piped gets at a place in Git: the same id at each
// registration, and another one for each piped.
func ApplicationID(pipedID, repoID, path, configFilename string) string {
	return uuid.NewSHA1(applicationSpace, []byte(pipedID+"\x00"+repoID+"\x00"+path+"\x00"+configFilename)).String()
}

// Register registers every application of the list that is not known yet, with all
// deploy targets of the piped. It skips what a user deleted while it was in Git, and repositories that the piped did
// not report, and returns the names of the new ones.
func (a *Applications) Register(pipedID string, found []*model.ApplicationInfo) (names []string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	offered, err := a.offers.of(pipedID)
	if err != nil {
		return nil, err
	}
	for _, info := range found {
		path, err := a.offers.complete(pipedID, &model.ApplicationGitPath{
			Repo: &model.ApplicationGitRepository{Id: info.GetRepoId()}, Path: info.GetPath(),
			ConfigFilename: info.GetConfigFilename(),
		})
		if err != nil {
			continue
		}
		id, free := a.index.idFor(placeOf(pipedID, path), path)
		if !free {
			continue
		}
		if err := a.index.room(a.ledger.limits.Applications); err != nil {
			return names, err
		}
		one := a.create(id, info.GetName(), pipedID, path)
		one.automatic = true
		one.model.Kind, one.model.Description = info.GetKind(), info.GetDescription()
		one.model.Labels = maps.Clone(info.GetLabels())
		a.use(one)
		one.model.DeployTargetsByPlugin = offered.deployTargets(info.GetLabels(), one.uses)
		a.changed(one)
		names = append(names, info.GetName())
	}
	return names, nil
}

// idFor returns the id of an application that Git has at a place; not free when one is or was there. One that was
// removed because it was not in Git comes back with its id.
func (x *applicationIndex) idFor(at place, path *model.ApplicationGitPath) (id string, free bool) {
	switch there := x.places[at]; {
	case there == nil:
		return x.idAt(at.piped, path), true
	case there.model.GetDeleted() && IsOrphaned(there.model.GetSyncState()):
		return there.model.GetId(), true
	}
	return "", false
}

// Add registers an application at the request of a user and returns its id. The repository is
// completed from what the piped reported. An application of the piped that is at this place already is
// returned as it is; AlreadyExists when it has another kind or platform provider than the user names.
func (a *Applications) Add(m *model.Application) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	path, err := a.offers.complete(m.GetPipedId(), m.GetGitPath())
	if err != nil {
		return "", err
	}
	there := a.index.places[placeOf(m.GetPipedId(), path)]
	if there != nil && !there.model.GetDeleted() {
		return there.model.GetId(), agrees(there.model, m)
	}
	if err := a.index.room(a.ledger.limits.Applications); err != nil {
		return "", err
	}
	id := a.index.idAt(m.GetPipedId(), path)
	if there != nil { // it was deleted
		id = there.model.GetId()
	}
	one := a.create(id, m.GetName(), m.GetPipedId(), path)
	a.use(one)
	one.model.Kind, one.model.Description, one.model.Labels = m.GetKind(), m.GetDescription(), maps.Clone(m.GetLabels())
	one.model.PlatformProvider, one.model.CloudProvider = m.GetPlatformProvider(), m.GetPlatformProvider()
	a.changed(one)
	return id, nil
}

// agrees reports that a registered application is of another kind, or for another platform provider, than
// a user wants to add. A provider that either does not name agrees with all.
func agrees(there, wanted *model.Application) error {
	has, wants := there.GetPlatformProvider(), wanted.GetPlatformProvider()
	if there.GetKind() == wanted.GetKind() && (has == "" || wants == "" || has == wants) {
		return nil
	}
	return alreadyExists("application %s (%s) is registered at this place already, with kind %s and platform "+
		"provider %q; "+
		"delete it first, with: pipectl application delete --app-id=%s",
		there.GetName(), there.GetId(), there.GetKind(), has, there.GetId())
}

// Import stores an application as it is, with the id that it has elsewhere.
func (a *Applications) Import(m *model.Application) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := &application{model: proto.CloneOf(m)}
	a.index.put(one)
	a.publish(one)
	a.signals.mark(m.GetPipedId(), applicationsChanged)
}

// UpdateInfo takes over name, description and labels from Git, and the place there.
func (a *Applications) UpdateInfo(pipedID string, infos []*model.ApplicationInfo) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, info := range infos {
		if _, err := a.index.findOwned(pipedID, info.GetId()); err != nil {
			return err
		}
	}
	for _, info := range infos {
		one := a.index.byID[info.GetId()]
		m := one.model
		moved := follow(a, one, info)
		if !moved && m.GetName() == info.GetName() && m.GetDescription() == info.GetDescription() &&
			maps.Equal(m.GetLabels(), info.GetLabels()) {
			continue
		}
		m.Name, m.Description, m.Labels = info.GetName(), info.GetDescription(), maps.Clone(info.GetLabels())
		if offered, err := a.offers.of(pipedID); err == nil && one.automatic {
			m.DeployTargetsByPlugin = offered.deployTargets(m.Labels, one.uses)
		}
		a.changed(one)
	}
	return nil
}

// follow gives an application the place that its piped has found it at, and reports whether that is another one. A
// place that another application has is not taken.
func follow(a *Applications, one *application, info *model.ApplicationInfo) (moved bool) {
	m := one.model
	to, err := a.offers.complete(m.GetPipedId(), &model.ApplicationGitPath{
		Repo: &model.ApplicationGitRepository{Id: m.GetGitPath().GetRepo().GetId()}, Path: info.GetPath(),
		ConfigFilename: info.GetConfigFilename(),
	})
	at := placeOf(m.GetPipedId(), to)
	if err != nil || info.GetPath() == "" || info.GetConfigFilename() == "" || at == one.filed ||
		a.index.free(one, at) != nil {
		return false
	}
	m.GitPath = to
	a.index.file(one)
	a.use(one)
	return true
}

// refresh gives the applications of a piped what the piped offers now: their repositories, and deploy targets where
// no user set any.
func (a *Applications) refresh(pipedID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	offered, err := a.offers.of(pipedID)
	if err != nil {
		return
	}
	for _, one := range a.index.pipeds[pipedID] {
		a.refreshRepositoryOf(one, offered)
		a.refreshTargetsOf(one)
	}
}

// refreshRepositoryOf takes over a remote or branch that a user changed in the piped configuration. PipeCD keeps those
// of the registration, but there a user can register the application again.
func (a *Applications) refreshRepositoryOf(one *application, offered *offer) {
	path := one.model.GetGitPath()
	repo := offered.repository(path.GetRepo().GetId())
	if repo == nil || proto.Equal(repo, path.GetRepo()) {
		return
	}
	path.Repo, path.Url = repo, directoryURL(repo, path.GetPath())
	a.changed(one)
}

func (a *Applications) refreshTargetsOf(one *application) {
	offered, err := a.offers.of(one.model.GetPipedId())
	if err != nil {
		return
	}
	if !one.automatic {
		// Those without targets or provider are shown with the piped's.
		if len(one.model.GetDeployTargetsByPlugin()) == 0 || one.model.GetPlatformProvider() == "" {
			a.changed(one)
		}
		return
	}
	targets := offered.deployTargets(one.model.GetLabels(), one.uses)
	same := maps.EqualFunc(one.model.GetDeployTargetsByPlugin(), targets, func(x, y *model.DeployTargets) bool {
		return proto.Equal(x, y)
	})
	if !same || len(offered.piped.GetPlatformProviders()) > 0 {
		one.model.DeployTargetsByPlugin = targets
		a.changed(one)
	}
}

// ReportPlugins stores which plugins applications of a piped use, also of those that are not registered yet.
func (a *Applications) ReportPlugins(pipedID string, applications []*agentv1.ApplicationPlugins) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := a.offers.of(pipedID); err != nil {
		return err
	}
	if a.uses[pipedID] == nil {
		a.uses[pipedID] = map[place][]string{}
	}
	uses := a.uses[pipedID]
	for _, reported := range applications {
		at := place{
			pipedID, reported.GetRepoId(), reported.GetPath(),
			cmp.Or(reported.GetConfigFilename(), defaultConfigFilename),
		}
		if _, known := uses[at]; !known && len(uses) >= a.ledger.limits.Applications {
			return exhausted("the plugins of %d applications are known already", len(uses))
		}
		uses[at] = slices.Clone(reported.GetPlugins())
		changed := a.manual[at] != reported.GetManual()
		if a.manual[at] = true; !reported.GetManual() {
			delete(a.manual, at)
		}
		if one := a.index.places[at]; one != nil && !one.model.GetDeleted() {
			a.use(one)
			a.refreshTargetsOf(one)
			if changed {
				a.publish(one)
			}
		}
	}
	return nil
}

// use takes over what the piped has reported of the application's plugins.
func (a *Applications) use(one *application) {
	if names, known := a.uses[one.filed.piped][one.filed]; known {
		one.uses = &names
	}
}

// create adds an application without publishing it.
func (a *Applications) create(id, name, pipedID string, path *model.ApplicationGitPath) *application {
	now := a.ledger.now().Unix()
	one := &application{model: &model.Application{
		Id: id, Name: name, PipedId: pipedID, ProjectId: a.ledger.project, GitPath: path, CreatedAt: now,
		UpdatedAt: now,
	}}
	a.index.put(one)
	return one
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// Application is an application with what the store knows besides the model. Shared: do not change.
type Application struct {
	Model *model.Application
	// Health and Counts are of the last live state.
	Health model.ApplicationLiveState_Status
	Counts ResourceCounts
	// LatestDeploymentID is empty before the first deployment.
	LatestDeploymentID string
	// URL is where it answers on this machine; empty when that is not known.
	URL string
	// Manual: only users deploy it, as its piped has reported.
	Manual bool
	// ExaminedDeploymentID is the last successful deployment, when its live state and its sync state were reported
	// since then; else an older one, or empty.
	ExaminedDeploymentID string
	// LookingSince is when a look at its live state has begun that goes on and has lasted for long; ExaminedAt is when
	// a live state was reported last before it. Both are zero while there is no such look.
	LookingSince, ExaminedAt time.Time
}

// Applications are the registered applications, and those that were deleted: these stay deleted although Git still
// holds them.
type Applications struct {
	ledger  *ledger
	offers  *offers
	signals *signals
	looks   looks

	mu    sync.Mutex
	index applicationIndex
	// uses are the plugins that applications use by their configuration, by piped and place, as pipeds reported them.
	uses map[string]map[place][]string
	// manual are the places of the applications that only users deploy. They are among those of uses.
	manual map[place]bool
	// urls are where applications answer, by their ids, as SetURLs got them last.
	urls map[string]string
}

type application struct {
	model *model.Application
	// filed is the place under which the index has it.
	filed place
	// Deploy targets follow the piped's configuration until a user sets them.
	automatic bool
	// uses are the plugins that its configuration uses; nil while its piped has not reported them.
	uses   *[]string
	health model.ApplicationLiveState_Status
	counts ResourceCounts
	// liveOf and examinedOf are the last successful deployment when the live state, and after it the sync state, were
	// reported last.
	liveOf, examinedOf string
	// observedAt is when a live state was reported last; lookingSince when a look has begun that lasts for long.
	observedAt, lookingSince time.Time
	latest                   string
}

func newApplications(l *ledger, o *offers, s *signals) *Applications {
	a := &Applications{ledger: l, offers: o, signals: s, uses: map[string]map[place][]string{},
		manual: map[place]bool{}}
	a.clear()
	return a
}

// clear forgets all applications, but not what pipeds have reported of those to come. The store is frozen.
func (a *Applications) clear() { a.index = newApplicationIndex() }

// Get returns the application as stored.
func (a *Applications) Get(id string) (*model.Application, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, err := a.index.find(id)
	if err != nil {
		return nil, err
	}
	return a.withProvider(one), nil
}

// List returns a page of the registered applications that match, the one updated last in front, and whether
// there are more.
func (a *Applications) List(
	match func(*model.Application) bool, after Position, b Bounds,
) (page []*model.Application, more bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var found []*application
	for _, one := range a.index.byID {
		m := one.model
		if !m.GetDeleted() && after.before(m.GetUpdatedAt(), m.GetId()) && match(m) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b *application) int {
		return cmp.Or(cmp.Compare(b.model.GetUpdatedAt(), a.model.GetUpdatedAt()),
			cmp.Compare(a.model.GetId(), b.model.GetId()))
	})
	return pageOf(found, a.withProvider, b)
}

// OfPiped returns a page of the enabled applications of a piped, with the deploy targets that they are
// deployed to, and whether there are more. They are ordered by name and id; the page begins after that name and id.
func (a *Applications) OfPiped(pipedID, afterName, afterID string, b Bounds) (page []*model.Application, more bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var found []*application
	for _, one := range a.index.pipeds[pipedID] {
		m := one.model
		if !m.GetDisabled() && cmp.Or(cmp.Compare(m.GetName(), afterName), cmp.Compare(m.GetId(), afterID)) > 0 {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, byName)
	return pageOf(found, a.effective, b)
}

func byName(a, b *application) int {
	return cmp.Or(cmp.Compare(a.model.GetName(), b.model.GetName()), cmp.Compare(a.model.GetId(), b.model.GetId()))
}

func byID(a, b *application) int { return cmp.Compare(a.model.GetId(), b.model.GetId()) }

// SetDisabled stops or resumes deployments of an application.
func (a *Applications) SetDisabled(id string, disabled bool) error {
	return a.change(id, func(one *application) error {
		one.model.Disabled = disabled
		return nil
	})
}

// SetDeployTargets replaces the deploy targets of an application.
func (a *Applications) SetDeployTargets(id string, targets map[string]*model.DeployTargets) error {
	return a.change(id, func(one *application) error {
		one.model.DeployTargetsByPlugin = targets
		one.automatic = false
		return nil
	})
}

// Move changes the piped, the platform provider and the place in Git.
func (a *Applications) Move(id, pipedID, platformProvider string, path *model.ApplicationGitPath) error {
	return a.change(id, func(one *application) error {
		path, err := a.offers.complete(pipedID, path)
		if err != nil {
			return err
		}
		if err := a.index.free(one, placeOf(pipedID, path)); err != nil {
			return err
		}
		if old := one.model.GetPipedId(); old != pipedID {
			a.signals.mark(old, applicationsChanged)
		}
		one.model.PipedId, one.model.GitPath = pipedID, path
		one.model.PlatformProvider, one.model.CloudProvider = platformProvider, platformProvider
		a.index.file(one)
		return nil
	})
}

// RenameConfigFile changes the name of the configuration file of each application, or of none.
func (a *Applications) RenameConfigFile(ids []string, filename string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		one, err := a.index.find(id)
		if err != nil {
			return err
		}
		renamed := placeOf(one.model.GetPipedId(), one.model.GetGitPath())
		renamed.file = filename
		if err := a.index.free(one, renamed); err != nil {
			return err
		}
	}
	for _, id := range ids {
		one := a.index.byID[id]
		if one.model.GitPath == nil { // as a restored application may be
			one.model.GitPath = &model.ApplicationGitPath{}
		}
		one.model.GitPath.ConfigFilename = filename
		a.index.file(one)
		a.changed(one)
	}
	return nil
}

// remove deletes an application. It stays deleted, although Git still holds it, until a user adds it again.
func (a *Applications) remove(id string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, err := a.index.find(id)
	if err != nil {
		return err
	}
	now := a.ledger.now().Unix()
	one.model.Deleted, one.model.DeletedAt, one.model.UpdatedAt = true, now, now
	one.health, one.counts = model.ApplicationLiveState_UNKNOWN, ResourceCounts{}
	a.index.file(one)
	a.ledger.keep(one.record)
	a.index.boundDeleted(a.ledger.limits.Applications)
	a.ledger.publish(Change{RemovedApplication: id})
	a.signals.mark(one.model.GetPipedId(), applicationsChanged)
	return nil
}

// undeploy has no application deployed any more to the deploy targets of a name, and returns the enabled ones that
// were.
func (a *Applications) undeploy(target string) (enabled []*model.Application) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.index.byID {
		m := one.model
		if m.GetDeleted() || m.GetMostRecentlySuccessfulDeployment() == nil || !one.deployedTo(target) {
			continue
		}
		m.MostRecentlySuccessfulDeployment = nil
		a.changed(one)
		if !m.GetDisabled() {
			enabled = append(enabled, proto.CloneOf(m))
		}
	}
	return enabled
}

// deployedTo reports whether a deploy target of the application has that name.
func (a *application) deployedTo(name string) bool {
	for _, targets := range a.model.GetDeployTargetsByPlugin() {
		if slices.Contains(targets.GetDeployTargets(), name) {
			return true
		}
	}
	return false
}

// matching returns the ids of the enabled applications that agree with everything the matcher names. One
// that names nothing matches nothing.
func (a *Applications) matching(m *pipedservice.CreateDeploymentChainRequest_ApplicationMatcher) (ids []string) {
	if m.GetName() == "" && m.GetKind() == "" && len(m.GetLabels()) == 0 {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range sorted(a.index.byID, byID) {
		if one.model.GetDeleted() || one.model.GetDisabled() {
			continue
		}
		if (m.GetName() == "" || m.GetName() == one.model.GetName()) &&
			(m.GetKind() == "" || m.GetKind() == one.model.GetKind().String()) &&
			HasLabels(one.model.GetLabels(), m.GetLabels()) {
			ids = append(ids, one.model.GetId())
		}
	}
	return ids
}

// HasLabels reports whether labels hold every wanted one.
func HasLabels(labels, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// pipedOf returns the piped of an application; empty when it is not known.
func (a *Applications) pipedOf(id string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.index.byID[id]; one != nil {
		return one.model.GetPipedId()
	}
	return ""
}

// owned returns NotFound when there is no such application, and PermissionDenied when it belongs to another piped.
func (a *Applications) owned(pipedID, id string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err := a.index.findOwned(pipedID, id)
	return err
}

// deployed notes the latest deployment of an application, and publishes it unless it is of an earlier control plane.
func (a *Applications) deployed(id, deployment string, restored bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.index.byID[id]
	if one == nil {
		return
	}
	one.latest = deployment
	if !restored {
		a.publish(one)
	}
}

// observed takes over what the last live state of an application amounts to.
func (a *Applications) observed(id string, health model.ApplicationLiveState_Status, counts ResourceCounts) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, err := a.index.find(id)
	if err != nil {
		return
	}
	one.observedAt = a.ledger.now()
	one.liveOf = one.model.GetMostRecentlySuccessfulDeployment().GetDeploymentId()
	if one.health == health && one.counts == counts {
		return
	}
	one.health, one.counts = health, counts
	a.publish(one)
}

// SetURLs replaces where applications answer on this machine, by their ids; those that are not named answer nowhere.
// The map belongs to the store.
func (a *Applications) SetURLs(urls map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.urls
	a.urls = urls
	for _, one := range sorted(a.index.byID, byID) {
		if id := one.model.GetId(); !one.model.GetDeleted() && before[id] != urls[id] {
			a.ledger.publish(Change{Application: a.view(one)})
		}
	}
}

func (a *Applications) change(id string, change func(*application) error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, err := a.index.find(id)
	if err != nil {
		return err
	}
	if err := change(one); err != nil {
		return err
	}
	a.changed(one)
	return nil
}

// changed stamps, publishes and signals a change that did not come from piped.
func (a *Applications) changed(one *application) {
	one.model.UpdatedAt = a.ledger.now().Unix()
	a.publish(one)
	a.signals.mark(one.model.GetPipedId(), applicationsChanged)
}

// publish keeps and publishes an application.
func (a *Applications) publish(one *application) {
	a.ledger.keep(one.record)
	a.ledger.publish(Change{Application: a.view(one)})
}

func (a *Applications) view(one *application) *Application {
	shown := &Application{Model: a.effective(one), Health: one.health, Counts: one.counts,
		LatestDeploymentID: one.latest, URL: a.urls[one.model.GetId()],
		Manual: a.manual[one.filed], ExaminedDeploymentID: one.examinedOf}
	if !one.lookingSince.IsZero() {
		shown.LookingSince, shown.ExaminedAt = one.lookingSince, one.observedAt
	}
	return shown
}

// effective is the application with the targets and the platform provider that it is deployed to: those of its piped
// when no user set any, as pipectl cannot.
func (a *Applications) effective(one *application) *model.Application {
	m := a.withProvider(one)
	if offered, err := a.offers.of(m.GetPipedId()); err == nil && len(m.GetDeployTargetsByPlugin()) == 0 {
		m.DeployTargetsByPlugin = offered.deployTargets(m.GetLabels(), one.uses)
	}
	return m
}

// withProvider is the application with the platform provider that it is deployed to.
func (a *Applications) withProvider(one *application) *model.Application {
	m := proto.CloneOf(one.model)
	if offered, err := a.offers.of(m.GetPipedId()); err == nil && m.GetPlatformProvider() == "" {
		m.PlatformProvider = offered.platformProvider(m.GetKind(), m.GetLabels())
		m.CloudProvider = m.GetPlatformProvider()
	}
	return m
}

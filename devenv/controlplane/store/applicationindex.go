// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import "github.com/pipedeck/pipedeck/api/model"

// place is where the configuration of an application is, and the piped that deploys it. It identifies an
// application: several pipeds may use the same id for different repositories, and one repository may have
// several pipeds.
type place struct{ piped, repo, path, file string }

func placeOf(pipedID string, path *model.ApplicationGitPath) place {
	return place{pipedID, path.GetRepo().GetId(), path.GetPath(), path.GetConfigFilename()}
}

// applicationIndex finds applications by id, by place and by piped. It has no lock: it belongs to the holder of the
// lock of Applications, which files each application whose place, piped or deletion has changed.
type applicationIndex struct {
	byID map[string]*application
	// places has deleted applications, too: they stay deleted although Git still holds them.
	places map[place]*application
	// pipeds has the applications of each piped by id, without deleted ones.
	pipeds map[string]map[string]*application
	// registered is the number of applications in pipeds.
	registered int
}

func newApplicationIndex() applicationIndex {
	return applicationIndex{
		byID: map[string]*application{}, places: map[place]*application{}, pipeds: map[string]map[string]*application{},
	}
}

// file brings the index up to date with the application.
func (x *applicationIndex) file(a *application) {
	x.remove(a)
	a.filed = placeOf(a.model.GetPipedId(), a.model.GetGitPath())
	if other := x.places[a.filed]; other == nil || other.model.GetDeleted() {
		x.places[a.filed] = a
	}
	if a.model.GetDeleted() {
		return
	}
	own := x.pipeds[a.filed.piped]
	if own == nil {
		own = map[string]*application{}
		x.pipeds[a.filed.piped] = own
	}
	own[a.model.GetId()] = a
	x.registered++
}

// remove forgets the application.
func (x *applicationIndex) remove(a *application) {
	if x.places[a.filed] == a {
		delete(x.places, a.filed)
	}
	if own := x.pipeds[a.filed.piped]; own[a.model.GetId()] == a {
		delete(own, a.model.GetId())
		x.registered--
	}
}

func (x *applicationIndex) find(id string) (*application, error) {
	if one := x.byID[id]; one != nil && !one.model.GetDeleted() {
		return one, nil
	}
	return nil, notFound("Application is not found")
}

func (x *applicationIndex) findOwned(pipedID, id string) (*application, error) {
	one, err := x.find(id)
	if err != nil {
		return nil, err
	}
	if one.model.GetPipedId() != pipedID {
		return nil, denied("application %s belongs to another piped", id)
	}
	return one, nil
}

// put adds an application, in place of the one with its id.
func (x *applicationIndex) put(one *application) {
	if before := x.byID[one.model.GetId()]; before != nil {
		x.remove(before)
	}
	x.byID[one.model.GetId()] = one
	x.file(one)
}

// idAt returns the id of a new application at a place.
func (x *applicationIndex) idAt(pipedID string, path *model.ApplicationGitPath) string {
	id := ApplicationID(pipedID, path.GetRepo().GetId(), path.GetPath(), path.GetConfigFilename())
	if x.byID[id] != nil { // that application was moved to another place
		return newID()
	}
	return id
}

// free reports an application other than one at a place.
func (x *applicationIndex) free(one *application, at place) error {
	if other := x.places[at]; other != nil && other != one && !other.model.GetDeleted() {
		return alreadyExists("application %s (%s) has its configuration at %s/%s of repository %s already",
			other.model.GetName(), other.model.GetId(), at.path, at.file, at.repo)
	}
	return nil
}

// room returns ResourceExhausted when the limit of registered applications is reached.
func (x *applicationIndex) room(limit int) error {
	if x.registered >= limit {
		return exhausted("%d applications are registered already; delete some with `pipectl application delete`", limit)
	}
	return nil
}

// boundDeleted forgets the application that was deleted first when there are more deleted ones than
// registered ones may be, which is limit.
func (x *applicationIndex) boundDeleted(limit int) {
	if len(x.byID)-x.registered <= limit {
		return
	}
	var first *application
	for _, one := range x.byID {
		if one.model.GetDeleted() && (first == nil || one.model.GetDeletedAt() < first.model.GetDeletedAt()) {
			first = one
		}
	}
	x.remove(first)
	delete(x.byID, first.model.GetId())
}

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

// applicationIndex finds applications by place and by piped. The store files each application whose place,
// piped or deletion has changed.
type applicationIndex struct {
	// places has deleted applications, too: they stay deleted although Git still holds them.
	places map[place]*application
	// pipeds has the applications of each piped by id, without deleted ones.
	pipeds map[string]map[string]*application
	// registered is the number of applications in pipeds.
	registered int
}

func newApplicationIndex() applicationIndex {
	return applicationIndex{places: map[place]*application{}, pipeds: map[string]map[string]*application{}}
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

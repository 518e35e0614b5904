// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"path"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
)

// phase is a commit that is deployed, and what is awaited of it.
type phase struct {
	commit  string
	awaited []Application
	// base is the commit of the base; empty without a range. It may fail to deploy the unsound applications, which are
	// named by their configuration files.
	base    string
	unsound map[string]bool
	// stale are the reasons of configurations that were not valid before the commit was looked at, by application.
	stale map[string]string
}

// verdict is how a phase stands.
type verdict struct {
	settled bool
	// failed are the newest deployments that did not succeed, broken the awaited applications with a configuration that
	// piped refuses.
	failed []*deckv1.Deployment
	broken []*deckv1.Application
	// left says what is awaited.
	left []string
}

// judge inspects the state. A phase has settled when each awaited application has been deployed from the commit, or
// will not be, and nothing else is being deployed.
func (p *phase) judge(d *state.Deck) verdict {
	v := verdict{settled: true}
	byFile := map[string]*deckv1.Application{}
	for _, app := range d.Applications() {
		if !isWatched(app) {
			continue
		}
		byFile[fileOf(app)] = app
		if newest := d.Newest(app.GetId()); newest != nil && state.Ended(newest.GetStatus()) &&
			newest.GetStatus() != deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS && !p.mayFail(app, newest) {
			v.failed = append(v.failed, newest)
		}
	}
	for _, a := range p.awaited {
		app := byFile[a.File]
		if left := p.leftOf(d, a, app); left != "" {
			v.left = append(v.left, left)
		}
		if p.isBroken(app) {
			v.broken = append(v.broken, app)
		}
	}
	switch {
	case d.Deploying():
		v.settled = false
	case len(v.failed) > 0 && p.onlyFollowers(d, byFile):
		// The chain has ended with the failure.
	default:
		v.settled = len(v.left) == 0
	}
	return v
}

// mayFail reports whether a deployment is one of the base, of an application that is unsound there.
func (p *phase) mayFail(app *deckv1.Application, d *deckv1.Deployment) bool {
	return p.unsound[fileOf(app)] && d.GetCommit().GetHash() == p.base
}

// onlyFollowers reports whether nothing but members of chains is awaited.
func (p *phase) onlyFollowers(d *state.Deck, byFile map[string]*deckv1.Application) bool {
	for _, a := range p.awaited {
		if p.leftOf(d, a, byFile[a.File]) != "" && !a.follows {
			return false
		}
	}
	return true
}

// leftOf says what is awaited of an application; empty for nothing.
func (p *phase) leftOf(d *state.Deck, a Application, app *deckv1.Application) string {
	switch {
	case app == nil:
		return a.Title() + ": piped has not registered it yet"
	case app.GetDisabled(), p.isBroken(app):
		return ""
	}
	one := p.deployment(d, app)
	switch {
	case one == nil:
		return a.Title() + ": not deployed yet"
	case !state.Ended(one.GetStatus()):
		return a.Title() + ": " + reader.Name(one.GetStatus()) + ": " + one.GetStatusReason()
	}
	return ""
}

// deployment returns the newest deployment of the commit; nil while there is none.
func (p *phase) deployment(d *state.Deck, app *deckv1.Application) *deckv1.Deployment {
	for _, one := range d.Deployments(app.GetId()) {
		if one.GetCommit().GetHash() == p.commit {
			return one
		}
	}
	return nil
}

// isBroken reports whether piped refuses the configuration of an application at the commit.
func (p *phase) isBroken(app *deckv1.Application) bool {
	return app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG && p.stale[app.GetId()] != app.GetSyncReason()
}

// fileOf is the configuration file of an application in the repository of the environment; empty for an application of
// another one, which may have the same file.
func fileOf(app *deckv1.Application) string {
	if !isWatched(app) {
		return ""
	}
	return pathOf(app)
}

// pathOf is the configuration file of an application in its repository.
func pathOf(app *deckv1.Application) string { return path.Join(app.GetPath(), app.GetConfigFilename()) }

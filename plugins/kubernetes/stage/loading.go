// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"fmt"
	"time"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/lookup"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// reachTimeout bounds the wait for a cluster where charts may be rendered without it.
const reachTimeout = 3 * time.Second

// Connect connects to the cluster of the deploy target that is loaded for.
type Connect func(ctx context.Context) (*cluster.Client, error)

// Loading says how a source is loaded. All of it is optional.
type Loading struct {
	// Connect reaches the cluster that charts see. It is called at most once, and only for a source with charts. nil
	// renders them without a cluster.
	Connect Connect
	// Needed makes a cluster that cannot be reached an error; else charts are rendered without it.
	Needed bool
	// Hide hides the values of Secrets that charts look up from everything but Secrets.
	Hide bool
	// Upgrade renders a chart as for an upgrade of its release; else it is rendered as for the installation. Install
	// makes it that in any case, whatever the records of the release say.
	Upgrade, Install bool
	// Deployed renders a chart for the revision that is deployed; else it is rendered for the next one.
	Deployed bool
	// Record asks for the Release of an application that wants its releases recorded.
	Record bool
	// Note gets what a user should know next to the manifests, a line each.
	Note func(string)
}

// Loaded is a source that was loaded.
type Loaded struct {
	Manifests []manifest.Manifest
	// Reads are what the charts have looked up in the cluster; nil for nothing.
	Reads *lookup.Reads
	// ReadsMoment is set when a chart may be rendered otherwise for an installation, or for another revision.
	ReadsMoment bool
	// Release is what a record of the release needs; nil for no record.
	Release *helm.Release
	// Notes are what a user should know about what the charts have looked up, a line each.
	Notes []string
	// Away is why the charts were rendered without the cluster, although they would see it; nil when they were not.
	Away error
}

// view is what the charts of a source see; nil for no cluster.
func (l *Loader) view(targets []Target, s *Source, how Loading) *lookup.View {
	if how.Connect == nil || len(targets) == 0 || targets[0].Config.OfflineCharts || s.App.Input.HelmOptions.Offline {
		return nil
	}
	view := lookup.New(how.Connect)
	if how.Hide {
		view.Hide(l.key)
	}
	return view
}

// render loads the files of a source, and renders its charts with the cluster if there is one.
func (l *Loader) render(ctx context.Context, req manifest.Request, view *lookup.View, how Loading) (*Loaded, error) {
	if view == nil {
		manifests, err := l.files.Load(ctx, req)
		return &Loaded{Manifests: manifests}, err
	}
	req.Cluster = view
	manifests, err := l.files.Load(ctx, req)
	if view.Away() != nil && !how.Needed && ctx.Err() == nil {
		req.Cluster = nil
		manifests, err = l.files.Load(ctx, req)
		if how.Note != nil {
			how.Note(fmt.Sprintf("The cluster cannot be reached, so that charts are rendered without it: %v",
				view.Away()))
		}
		return &Loaded{Manifests: manifests, Away: view.Away()}, err
	}
	for _, note := range view.Notes() {
		if how.Note != nil {
			how.Note(note)
		}
	}
	for _, m := range manifests {
		view.Restore(m.Unstructured)
	}
	return &Loaded{Manifests: manifests, Reads: view.Reads(), Notes: view.Notes()}, err
}

// Reaching connects to the first of the deploy targets, within a bound; nil without one, or without a pool.
func (l *Loader) Reaching(targets []Target) Connect {
	if l.pool == nil || len(targets) == 0 {
		return nil
	}
	return func(ctx context.Context) (*cluster.Client, error) {
		return l.pool.Reach(ctx, targets[0].Config, reachTimeout)
	}
}

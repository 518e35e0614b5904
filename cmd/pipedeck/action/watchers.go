// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"slices"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
)

// maxNamedMatchers bounds what a hint names.
const maxNamedMatchers = 10

// watchers are the event watchers of the repositories of an environment.
type watchers struct {
	matchers []workspace.EventMatcher
	// more says that there may be others: in repositories on servers, or in some that cannot be read.
	more bool
}

// watchersOf reads the repositories on this machine that piped is configured with.
func watchersOf(w *workspace.Workspace) (known watchers) {
	piped, err := config.LoadPiped(w.PipedConfig())
	if err != nil {
		return watchers{more: true} // piped has not been started yet
	}
	for _, repository := range piped.Repositories {
		path, local := repository.LocalPath()
		if !local {
			known.more = true
			continue
		}
		var matchers []workspace.EventMatcher
		opened, err := workspace.OpenBranch(path, repository.Branch)
		if err == nil {
			matchers, err = opened.EventMatchers()
		}
		if err != nil {
			known.more = true
			continue
		}
		known.matchers = append(known.matchers, matchers...)
	}
	return known
}

// match reports whether a known event watcher waits for the event.
func (w watchers) match(r *deckv1.RegisterEventRequest) bool {
	wanted := workspace.EventMatcher{Name: r.GetName(), Labels: r.GetLabels()}.String()
	return slices.ContainsFunc(w.matchers, func(m workspace.EventMatcher) bool { return m.String() == wanted })
}

// advice is the next step when none matches.
func (w watchers) advice() string {
	const add = "commit an eventWatcher to the application's configuration within an hour; the event is kept"
	if len(w.matchers) == 0 {
		return "no application has an event watcher: " + add
	}
	var names []string
	for _, m := range w.matchers[:min(len(w.matchers), maxNamedMatchers)] {
		names = append(names, m.String())
	}
	if len(w.matchers) > maxNamedMatchers {
		names = append(names, "and others")
	}
	return "register one of these, with exactly its labels: " + strings.Join(names, "; ") + "; or " + add
}

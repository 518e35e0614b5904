// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// unrestored reports whether the history of this store has not been read yet. The caller holds s.mu.
func (s *Store) unrestored() bool { return s.keep != nil && !s.keep.Loaded() }

// Restored is called after the last Restore and Lost. It does what had to wait for the history.
func (s *Store) Restored() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orphans = orphans{}
	if repository, ok := s.recognised[repositoryName]; ok {
		s.watching(repository)
		delete(s.recognised, repositoryName)
	}
	for name, identity := range s.recognised {
		s.recognise(name, identity)
	}
	clear(s.recognised)
	if s.keep == nil {
		return // before anybody uses the store
	}
	for sub := range s.watchers {
		sub.restart()
	}
	for id := range s.pipeds {
		for _, what := range []func(*Dirty){applicationsChanged, commandsChanged, deploymentsChanged, eventsChanged} {
			s.signal(id, what)
		}
	}
}

// repositoryName is the place of the repository's identity among those of clusters; no cluster has that name.
const repositoryName = "/repository"

// Watching says which repository the applications come from. When it is another one than the last time,
// everything about applications is forgotten: the same place in Git means another one there, and its
// commits are not known.
func (s *Store) Watching(repository string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unrestored() {
		s.recognised[repositoryName] = repository
		return
	}
	s.watching(repository)
}

func (s *Store) watching(repository string) {
	before, known := s.clusters[repositoryName]
	if before == repository {
		return
	}
	if known {
		fresh := New(Options{ProjectID: s.project, Now: s.now, Limits: s.limits})
		s.applications, s.deployments, s.completed, s.commands = fresh.applications, fresh.deployments, nil, fresh.commands
		s.index, s.open = fresh.index, fresh.open
		s.events, s.eventCommits, s.chains, s.chainOrder = nil, fresh.eventCommits, fresh.chains, nil // the clusters are the same ones
		s.objects, s.objectBytes, s.analyses, s.logBytes = fresh.objects, 0, fresh.analyses, 0
		for sub := range s.watchers {
			sub.restart()
		}
	}
	s.clusters[repositoryName] = repository
	switch {
	case s.keep == nil:
	case known:
		s.keep.Replace()
	default:
		s.keep.Append(journal.Record{Kind: journal.Cluster, ID: repositoryName, Name: repository})
	}
}

// Recognise says which cluster the deploy targets of that name lead to, by an identity of its own. When it
// is another one than the last time, what is known to run there runs no more: the applications that are
// deployed there are as if they had never been, and are synced. It returns their number, which is 0 when the history
// cannot be read yet.
func (s *Store) Recognise(name, identity string) (again int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unrestored() {
		s.recognised[name] = identity
		return 0
	}
	return s.recognise(name, identity)
}

func (s *Store) recognise(name, identity string) (again int) {
	before, known := s.clusters[name]
	if before == identity {
		return 0
	}
	s.clusters[name] = identity
	if s.keep != nil {
		s.keep.Append(journal.Record{Kind: journal.Cluster, ID: name, Name: identity})
	}
	if !known {
		return 0
	}
	for _, a := range s.applications {
		if a.model.GetDeleted() || a.model.GetMostRecentlySuccessfulDeployment() == nil || !a.deployedTo(name) {
			continue
		}
		a.model.MostRecentlySuccessfulDeployment = nil
		s.applicationChanged(a)
		if a.model.GetDisabled() {
			continue
		}
		_, err := s.addCommand(&model.Command{
			PipedId: a.model.GetPipedId(), ApplicationId: a.model.GetId(), Commander: "pipedeck", Type: model.Command_SYNC_APPLICATION,
			SyncApplication: &model.Command_SyncApplication{ApplicationId: a.model.GetId(), SyncStrategy: model.SyncStrategy_AUTO},
		})
		if err == nil {
			again++
		}
	}
	return again
}

// deployedTo tells whether a deploy target of the application has that name.
func (a *application) deployedTo(name string) bool {
	for _, targets := range a.model.GetDeployTargetsByPlugin() {
		if slices.Contains(targets.GetDeployTargets(), name) {
			return true
		}
	}
	return false
}

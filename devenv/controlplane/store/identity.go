// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// repositoryName is the place of the repository's identity among those of clusters; no cluster has that name.
const repositoryName = "/repository"

// Watching says which repository the applications come from. When it is another one than the last time,
// everything about applications is forgotten: the same place in Git means another one there, and its
// commits are not known.
func (s *Store) Watching(repository string) {
	defer s.freeze()()
	if s.ledger.unrestored() {
		s.unread[repositoryName] = repository
		return
	}
	s.watching(repository)
}

// watching is called while the store is frozen.
func (s *Store) watching(repository string) {
	before, known := s.identities[repositoryName]
	if before == repository {
		return
	}
	s.identities[repositoryName] = repository
	if !known {
		s.keepIdentity(repositoryName)
		return
	}
	s.Deployments.clear()
	s.Commands.clear()
	s.chains.clear()
	s.Events.clear()
	s.Objects.clear()
	s.LiveStates.clear()
	s.Applications.clear() // the clusters are the same ones
	s.ledger.feed.restart()
	s.ledger.keepAll()
}

// Recognise says which cluster the deploy targets of that name lead to, by the cluster's own identity. When it
// is another one than the last time, what is known to run there runs no more: the applications that are
// deployed there are as if they had never been, and are synced. It returns their number, which is 0 when the history
// cannot be read yet.
func (s *Store) Recognise(name, identity string) (again int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ledger.unrestored() {
		s.unread[name] = identity
		return 0
	}
	return s.recognise(name, identity)
}

// recognise is called with s.mu held.
func (s *Store) recognise(name, identity string) (again int) {
	before, known := s.identities[name]
	if before == identity {
		return 0
	}
	s.identities[name] = identity
	s.keepIdentity(name)
	if !known {
		return 0
	}
	for _, a := range s.Applications.undeploy(name) {
		_, err := s.Commands.Add(&model.Command{
			PipedId: a.GetPipedId(), ApplicationId: a.GetId(), Commander: "pipedeck",
			Type: model.Command_SYNC_APPLICATION,
			SyncApplication: &model.Command_SyncApplication{ApplicationId: a.GetId(),
				SyncStrategy: model.SyncStrategy_AUTO},
		})
		if err == nil {
			again++
		}
	}
	return again
}

func (s *Store) keepIdentity(name string) {
	s.ledger.keep(func() journal.Record {
		return journal.Record{Kind: journal.Cluster, ID: name, Name: s.identities[name]}
	})
}

// restoreIdentities applies the identities that came before the history could be read.
func (s *Store) restoreIdentities() {
	thaw := s.freeze()
	if repository, ok := s.unread[repositoryName]; ok {
		s.watching(repository)
		delete(s.unread, repositoryName)
	}
	thaw()
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, identity := range s.unread {
		s.recognise(name, identity)
	}
	clear(s.unread)
}

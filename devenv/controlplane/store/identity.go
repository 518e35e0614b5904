// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"

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

// commitsToRecognise bounds the commits of a History: a repository that was moved holds even one of them.
const commitsToRecognise = 100

// History says what is kept of the repository that was watched last.
type History struct {
	// Repository is its root as it was given to Watching; empty when none was watched yet, or when the history cannot
	// be read.
	Repository string
	// Deployments counts those that are kept.
	Deployments int
	// Commits are hashes of commits that were deployed, at most 100.
	Commits []string
}

// History returns what Watching would forget for another repository.
func (s *Store) History() History {
	defer s.freeze()()
	if s.ledger.unrestored() {
		return History{}
	}
	h := History{Repository: s.identities[repositoryName], Deployments: len(s.Deployments.index.byID)}
	for _, one := range s.Deployments.index.byID {
		if len(h.Commits) == commitsToRecognise {
			break
		}
		if hash := one.model.GetTrigger().GetCommit().GetHash(); hash != "" && !slices.Contains(h.Commits, hash) {
			h.Commits = append(h.Commits, hash)
		}
	}
	return h
}

// Moved says that the repository that was watched last lies at another root now. Nothing is forgotten.
func (s *Store) Moved(repository string) {
	defer s.freeze()()
	s.identities[repositoryName] = repository
	s.keepIdentity(repositoryName)
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

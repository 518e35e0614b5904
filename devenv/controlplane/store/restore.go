// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"

	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// Errors of records that Restore does not understand.
var (
	errOtherProject = errors.New("it belongs to another project")
	errNoID         = errors.New("it has no id")
	errNoKey        = errors.New("its key is not a hash")
	errOtherOwner   = errors.New("it had another piped or application before")
	errReopened     = errors.New("it had ended before")
	errUnknownKind  = errors.New("its kind is unknown to this version of pipedeck")
)

const lostReason = "its last state was lost when the history was damaged"

// Restore takes back one record of an earlier control plane, in the order in which the records were kept. Nothing is
// published and nothing is kept again. An error says that the record makes no sense.
func (s *Store) Restore(r journal.Record) error {
	switch r.Kind {
	case journal.Piped:
		return s.Pipeds.restore(r)
	case journal.Application:
		deleted, err := s.Applications.restore(r)
		if deleted {
			s.removeBelongings(r.ID)
		}
		return err
	case journal.Deployment:
		return s.Deployments.restore(r)
	case journal.Log:
		return s.Deployments.restoreLog(r)
	case journal.Command:
		return s.Commands.restore(r)
	case journal.Event:
		return s.Events.restore(r)
	case journal.Chain:
		id, err := s.chains.restore(r)
		if err != nil {
			return err
		}
		s.Deployments.followChain(id) // those that were created before the chain was kept
		return nil
	case journal.Cluster:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.identities[r.ID] = r.Name
		return nil
	case journal.Object:
		s.Objects.restoreObject(r)
		return nil
	case journal.Analysis:
		return s.Objects.restoreAnalysis(r)
	}
	return errUnknownKind
}

// Lost says that the newest record of an object is missing. What is known of the object is older, so whatever waits or
// runs is ended: a stage or command that has already run must not run again. It returns a name of the object for users.
func (s *Store) Lost(r journal.Record) string {
	name := ""
	switch r.Kind {
	case journal.Deployment:
		name = s.Deployments.lost(r)
	case journal.Command:
		name = s.Commands.lost(r)
	case journal.Application:
		name = s.Applications.lost(r)
	}
	if name == "" {
		return r.String()
	}
	return name
}

// Restored is called after the last Restore and Lost. It does what had to wait for the history.
func (s *Store) Restored() {
	s.Deployments.restored()
	s.restoreIdentities()
	if !s.ledger.keeps() {
		return // before a caller uses the store
	}
	s.ledger.feed.restart()
	s.signals.markAll(allChanged)
}

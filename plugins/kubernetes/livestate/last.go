// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"slices"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// last is what Get found of an application that is not as in Git. piped asks for the fields of the drift next, which
// needs the same look.
type last struct {
	wanted  []*wanted
	answers []answer
}

type lastKey struct{ piped, application string }

// keepLast keeps the answers of Get for the next Drift.
func (s *Store) keepLast(q Query, wanted []*wanted, answers []answer) {
	drifted := func(a answer) bool { return a.sync.Status == sdk.OutOfSync }
	if !slices.ContainsFunc(answers, drifted) {
		s.last.remove(lastKey{q.PipedID, q.ApplicationID})
		return
	}
	kept := last{wanted: wanted}
	for _, a := range answers {
		a.resources = nil // the caller's from now on
		kept.answers = append(kept.answers, a)
	}
	s.last.put(lastKey{q.PipedID, q.ApplicationID}, kept)
}

// takeLast returns the answers of the last Get, once, unless the manifests or anything in the clusters have changed
// since.
func (s *Store) takeLast(q Query, wanted []*wanted) (answers []answer, known bool) {
	kept, known := s.last.remove(lastKey{q.PipedID, q.ApplicationID})
	if !known || !slices.Equal(kept.wanted, wanted) {
		return nil, false
	}
	for _, a := range kept.answers {
		if c := a.looked.cluster; c == nil || c.ctx.Err() != nil || c.changes.Load() != a.looked.changes {
			return nil, false
		}
	}
	return kept.answers, true
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/json"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// state returns the present state as changes. The store is frozen.
func (a *Applications) state() (changes []Change) {
	for _, one := range sorted(a.index.byID, byName) {
		if !one.model.GetDeleted() {
			changes = append(changes, Change{Application: a.view(one)})
		}
	}
	return changes
}

// records emits what the journal keeps. The store is frozen.
func (a *Applications) records(emit func(journal.Record)) {
	for _, one := range sorted(a.index.byID, byID) {
		emit(one.record())
	}
}

func (a *application) record() journal.Record {
	r := journal.Record{Kind: journal.Application, ID: a.model.GetId(), Model: encode(a.model), Automatic: a.automatic}
	if a.uses != nil {
		names, _ := json.Marshal(*a.uses) // strings only
		r.Key = string(names)
	}
	return r
}

// restore reports whether the application of the record was deleted.
func (a *Applications) restore(r journal.Record) (deleted bool, err error) {
	m := &model.Application{}
	if err := a.ledger.decode(r, m); err != nil {
		return false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.index.byID[m.GetId()]
	if one == nil {
		one = &application{}
	}
	one.model, one.automatic, one.uses = m, r.Automatic, nil
	if names := []string(nil); json.Unmarshal([]byte(r.Key), &names) == nil && names != nil {
		one.uses = &names
	}
	a.index.put(one)
	return m.GetDeleted(), nil
}

// lost returns a name for users of the change that is missing.
func (a *Applications) lost(r journal.Record) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.index.byID[r.ID]; one != nil {
		return "the last change of application " + one.model.GetName()
	}
	return ""
}

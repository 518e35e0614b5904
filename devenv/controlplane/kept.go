// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/deckapi"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// Kept returns the deck API of the state that a control plane has kept in a file, without plugins, components and live
// resources, which are not kept. Nothing on the disk is changed, and no piped can connect: the API is for reading.
// missing says what damage of the file has cost; it is empty when nothing has. The error is fs.ErrNotExist when nothing
// was ever kept.
func Kept(file, project, piped string, environment *deckv1.Environment) (deck deckv1.DeckServiceServer, missing string,
	err error) {
	state := store.New(store.Options{ProjectID: project, OwnPiped: piped})
	missing, err = journal.Read(file, state)
	if err != nil {
		return nil, "", err
	}
	state.Environment.Describe(environment)
	return deckapi.New(state, nil, nil), missing, nil
}

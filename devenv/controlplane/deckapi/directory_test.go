// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func TestTheDirectoryOfAnApplicationIsAsUsersWriteIt(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"./m": "m", "./": "./", "apps/m": "apps/m", "": ""} {
		shown := application(&store.Application{Model: &model.Application{
			GitPath: &model.ApplicationGitPath{Path: path}}})
		require.Equal(t, want, shown.GetPath())
	}
}

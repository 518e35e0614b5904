// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestAStageIsSaidToComeAfterNamesButNeverAfterIdsOutsideThePicture(t *testing.T) {
	t.Parallel()
	g := graph{stages: []*deckv1.Stage{{Id: "r1", Name: "SCRIPT_RUN_ROLLBACK"}, {Id: "r2", Name: "K8S_ROLLBACK"}}}
	require.Equal(t, []string{"SCRIPT_RUN_ROLLBACK"}, namesOf(g, []string{"bdc2c121-029b-46b9", "r1"}))
	require.Empty(t, namesOf(g, []string{"bdc2c121-029b-46b9"}))
}

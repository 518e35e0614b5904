// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestProblemsSayWhetherTheRepositoryIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		problem *deckv1.Problem
		unread  bool
	}{
		"piped cannot read it":     {&deckv1.Problem{Id: "a", Part: "repository sample", Component: "piped"}, true},
		"the working tree is gone": {&deckv1.Problem{Id: "a", Part: "working tree", Component: "repository"}, true},
		"it is read late": {&deckv1.Problem{Id: "a", Part: "watch of repository sample", Component: "piped"},
			false},
		"a plugin ends": {&deckv1.Problem{Id: "a", Part: "plugin wait", Component: "piped"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := New()
			require.False(t, d.RepositoryUnread())
			d.Apply(&deckv1.Event{Kind: &deckv1.Event_Problem{Problem: c.problem}})
			require.Equal(t, c.unread, d.RepositoryUnread())
		})
	}
}

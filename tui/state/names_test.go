// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestApplicationsOfOneNameAreDistinguished(t *testing.T) {
	t.Parallel()
	const name = "web"
	for what, c := range map[string]struct {
		first, second *deckv1.Application
		want          [2]string
	}{
		"another name": {&deckv1.Application{Name: name}, &deckv1.Application{Name: "api", PipedId: "p2"},
			[2]string{"web", "api"}},
		"pipeds": {&deckv1.Application{Name: name, PipedId: "p1"}, &deckv1.Application{Name: name, PipedId: "p2"},
			[2]string{"web of east", "web of p2"}},
		"directories": {&deckv1.Application{Name: name, PipedId: "p1", Path: "a/web"},
			&deckv1.Application{Name: name, PipedId: "p1", Path: "b/web"}, [2]string{"web in a/web", "web in b/web"}},
		"targets": {&deckv1.Application{Name: name, Path: "web", DeployTargets: []string{"kubernetes/dev"}},
			&deckv1.Application{Name: name, Path: "web", DeployTargets: []string{"kubernetes/prod"}},
			[2]string{"web to kubernetes/dev", "web to kubernetes/prod"}},
		"ids": {&deckv1.Application{Name: name}, &deckv1.Application{Name: name}, [2]string{"web app-1", "web app-2"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d := New()
			c.first.Id, c.second.Id = "app-1", "app-2"
			d.Apply(&deckv1.Event{Kind: &deckv1.Event_Piped{Piped: &deckv1.Piped{Id: "p1", Name: "east"}}})
			d.Apply(&deckv1.Event{Kind: &deckv1.Event_Application{Application: c.first}})
			require.Equal(t, c.first.GetName(), d.ApplicationName(c.first), "alone")
			d.Apply(&deckv1.Event{Kind: &deckv1.Event_Application{Application: c.second}})
			require.Equal(t, c.want, [2]string{d.ApplicationName(c.first), d.ApplicationName(c.second)})
			if c.want[0] == name {
				require.Equal(t, name, d.ApplicationArgument(c.first))
			} else {
				require.Equal(t, "app-1", d.ApplicationArgument(c.first))
			}
			d.Apply(&deckv1.Event{Kind: &deckv1.Event_Removed{Removed: &deckv1.Removed{ApplicationId: "app-2"}}})
			require.Equal(t, c.first.GetName(), d.ApplicationName(c.first), "alone again")
		})
	}
}

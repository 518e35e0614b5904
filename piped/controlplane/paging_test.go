// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/system/clock"
)

func TestListsAreReadPageByPageWhereThereAreAny(t *testing.T) {
	t.Parallel()
	list := func(server *fakeServer) (applications, events []string) {
		client := server.client(t, clock.System{})
		a, err := client.ListApplications(t.Context(), &pipedservice.ListApplicationsRequest{})
		require.NoError(t, err)
		for _, one := range a.GetApplications() {
			applications = append(applications, one.GetId())
		}
		e, err := client.ListEvents(t.Context(), &pipedservice.ListEventsRequest{Order: pipedservice.ListOrder_DESC})
		require.NoError(t, err)
		for _, one := range e.GetEvents() {
			events = append(events, one.GetId()+" "+one.GetName())
		}
		return applications, events
	}
	paged := newFakeServer()
	paged.pages = map[string]listPage{"": {[]string{"1", "2"}, "x"}, "x": {[]string{"2", "3"}, "y"},
		"y": {[]string{"4"}, ""}}
	applications, events := list(paged)
	require.Equal(t, []string{"1", "2", "3", "4"}, applications)
	require.Equal(t, []string{"1 DESC", "2 DESC", "3 DESC", "4 DESC"}, events)
	require.Zero(t, paged.callCount(), "the list without pages is not asked for")

	applications, events = list(newFakeServer()) // as PipeCD's
	require.Equal(t, []string{"a"}, applications)
	require.Equal(t, []string{"e "}, events)
}

func TestAListWithoutAnEndIsAnError(t *testing.T) {
	t.Parallel()
	pages := 0
	_, err := collect(func(id string) string { return id }, func(string) ([]string, string, error) {
		pages++
		return []string{fmt.Sprint(pages)}, fmt.Sprint("after ", pages), nil
	})
	require.ErrorContains(t, err, "more than 10000 pages")
}

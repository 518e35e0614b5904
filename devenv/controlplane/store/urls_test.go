// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func TestWhereAnApplicationAnswersIsPublishedWhenItChanges(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	importApplication(s, "b", nil)
	sub, _ := s.Subscribe(false)
	defer sub.Close()
	published := func() map[string]string {
		changes, err := sub.Next(t.Context())
		require.NoError(t, err)
		urls := map[string]string{}
		for _, change := range changes {
			urls[change.Application.Model.GetId()] = change.Application.URL
		}
		return urls
	}
	s.Applications.SetURLs(map[string]string{"a": "http://127.0.0.1:1", "later": "http://127.0.0.1:3"})
	require.Equal(t, map[string]string{"a": "http://127.0.0.1:1"}, published())
	s.Applications.SetURLs(map[string]string{"a": "http://127.0.0.1:1", "b": "http://127.0.0.1:2",
		"later": "http://127.0.0.1:3"})
	require.Equal(t, map[string]string{"b": "http://127.0.0.1:2"}, published())
	importApplication(s, "later", nil)
	require.Equal(t, map[string]string{"later": "http://127.0.0.1:3"}, published(), "it became known before")
	s.Applications.SetURLs(nil)
	require.Equal(t, map[string]string{"a": "", "b": "", "later": ""}, published())
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch_test

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
)

func TestWhatIsGoneIsNotUsedWhereASignatureIsRequired(t *testing.T) {
	t.Parallel()
	for code, usable := range map[int]bool{403: false, 404: false, 410: false, 401: true, 500: true, 503: true} {
		s := newSite(t, false, "one")
		dir := t.TempDir()
		r := fetch.Request{Plugin: "p", URL: s.URL + "/plugin", Strict: true}
		_, err := newFetcher(dir).Fetch(t.Context(), r)
		require.NoError(t, err)
		s.set("", func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(code); return true })
		file, err := newFetcher(dir).Fetch(t.Context(), r)
		if usable {
			require.NoError(t, err)
			require.ErrorContains(t, file.Stale, fmt.Sprintf("the server answers %d", code))
			continue
		}
		require.ErrorContains(t, err, fmt.Sprintf("the server answers %d", code))
		require.ErrorContains(t, err, "what was fetched before is not used either")
		require.False(t, fetch.Passing(err))
		r.Strict = false
		file, err = newFetcher(dir).Fetch(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, "one", content(t, file))

		s.Close()
		r.Strict = true
		file, err = newFetcher(dir).Fetch(t.Context(), r)
		require.NoError(t, err, "a server that cannot be asked does not say so")
		require.ErrorContains(t, file.Stale, "the server cannot be asked")
	}
}

func TestTheDirectoryHasABound(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, "")
	dir := t.TempDir()
	f := newFetcher(dir, func(o *fetch.Options) { o.MaxKept = 1 })
	long := time.Now().Add(-2 * time.Hour)
	var all []fetch.File
	for _, name := range []string{"a", "b"} {
		for _, version := range []string{"1", "2"} {
			s.set(name+version, nil)
			file, err := f.Fetch(t.Context(), fetch.Request{Plugin: name, URL: s.URL + "/" + name})
			require.NoError(t, err)
			all = append(all, file)
		}
	}
	for _, file := range all {
		require.NoError(t, os.Chtimes(file.Path, long, long))
	}
	s.set("c", nil)
	_, err := f.Fetch(t.Context(), fetch.Request{Plugin: "c", URL: s.URL + "/c"})
	require.NoError(t, err)
	for i, stays := range []bool{false, true, false, true} { // the second versions are in use
		_, err := os.Stat(all[i].Path)
		require.Equal(t, stays, err == nil, i)
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
)

const here = runtime.GOOS + "/" + runtime.GOARCH

// newRegistry serves an empty registry, which counts requests and wants a login unless it is empty.
func newRegistry(
	t *testing.T, login string, options ...registry.Option,
) (server *httptest.Server, address string, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	inner := registry.New(append(options, registry.Logger(log.New(io.Discard, "", 0)))...)
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		user, password, _ := r.BasicAuth()
		if login != "" && user+":"+password != login {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server, "oci://" + strings.TrimPrefix(server.URL, "http://"), asked
}

// noLogins keeps the user's own logins out of a test.
func noLogins(t *testing.T) func(*fetch.Options) {
	t.Helper()
	return loginsFile(t, "{}")
}

func loginsFile(t *testing.T, content string) func(*fetch.Options) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return func(o *fetch.Options) { o.DockerConfig = path }
}

func program(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugin")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o700))
	return path
}

func TestPluginComesFromARegistryForThisPlatform(t *testing.T) {
	t.Parallel()
	server, address, asked := newRegistry(t, "")
	dir := t.TempDir()
	f := newFetcher(dir, noLogins(t))
	url := address + "/team/plugin:v1"
	pushed, err := f.Push(
		t.Context(), url, map[string]string{here: program(t, "mine"), "plan9/mips": program(t, "theirs")}, nil,
	)
	require.NoError(t, err)
	first, err := f.Fetch(t.Context(), fetch.Request{Plugin: "p", URL: url})
	require.NoError(t, err)
	require.True(t, first.Downloaded)
	require.Equal(t, "mine", content(t, first))

	again, err := f.Fetch(t.Context(), fetch.Request{Plugin: "p", URL: url})
	require.NoError(t, err)
	require.False(t, again.Downloaded)

	_, err = f.Push(t.Context(), url, map[string]string{here: program(t, "newer")}, nil)
	require.NoError(t, err)
	moved, err := f.Fetch(t.Context(), fetch.Request{Plugin: "p", URL: url})
	require.NoError(t, err)
	require.Equal(t, "newer", content(t, moved), "a tag may move")

	pinned := fetch.Request{Plugin: "p", URL: url + "@" + pushed}
	old, err := f.Fetch(t.Context(), pinned)
	require.NoError(t, err)
	require.Equal(t, "mine", content(t, old))
	before := asked.Load()
	_, err = f.Fetch(t.Context(), pinned)
	require.NoError(t, err)
	require.Equal(t, before, asked.Load(), "what a digest names never changes")

	server.Close()
	stale, err := f.Fetch(t.Context(), fetch.Request{Plugin: "p", URL: url})
	require.NoError(t, err)
	require.ErrorContains(t, stale.Stale, "the server cannot be asked")
	require.Equal(t, "newer", content(t, stale))
}

func TestRegistryWantsALogin(t *testing.T) {
	t.Parallel()
	_, address, _ := newRegistry(t, "me:secret")
	host := strings.TrimPrefix(address, "oci://")
	login := loginsFile(
		t, fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, host, base64.StdEncoding.EncodeToString([]byte("me:secret"))),
	)
	url := address + "/plugin"
	f := newFetcher(t.TempDir(), login)
	_, err := f.Push(t.Context(), url, map[string]string{here: program(t, "mine")}, nil)
	require.NoError(t, err)
	file, err := f.Fetch(t.Context(), fetch.Request{Plugin: "p", URL: url})
	require.NoError(t, err)
	require.Equal(t, "mine", content(t, file))

	for _, other := range []func(*fetch.Options){noLogins(t),
		loginsFile(t, fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, host,
			base64.StdEncoding.EncodeToString([]byte("me:wrong"))))} {
		_, err = newFetcher(t.TempDir(), other).Fetch(t.Context(), fetch.Request{Plugin: "p", URL: url})
		require.ErrorContains(t, err, "log in with docker login")
		require.NotContains(t, err.Error(), "wrong")
		require.False(t, fetch.Passing(err))
	}
}

func TestWhatIsNoPluginForThisMachineIsRefused(t *testing.T) {
	t.Parallel()
	_, address, _ := newRegistry(t, "")
	f := newFetcher(t.TempDir(), noLogins(t))
	_, err := f.Push(t.Context(), address+"/other:v1", map[string]string{"plan9/mips": program(t, "theirs")}, nil)
	require.NoError(t, err)
	for url, want := range map[string]string{
		address + "/other:v1":                "it is not there for " + here + ", only for: plan9/mips",
		address + "/other:v2":                "the registry has no such artifact; correct the name and the tag",
		address + "/UPPER:v2":                "the url is not that of an artifact",
		"oci://me:secret@registry.example/p": "cannot hold a password",
	} {
		_, err := f.Fetch(t.Context(), fetch.Request{Plugin: "p", URL: url})
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret")
		require.False(t, fetch.Passing(err))
	}
	_, err = f.Fetch(
		t.Context(), fetch.Request{Plugin: "p", URL: address + "/other:v1@sha256:" + strings.Repeat("0", 64)},
	)
	require.ErrorContains(t, err, "no such artifact")

	for url, files := range map[string]map[string]string{
		address + "/p@sha256:" + strings.Repeat("0", 64): {here: program(t, "x")},
		address + "/p:v1":     {"linux": program(t, "x")},
		address + "/p:v2":     {here: "/no/such/file"},
		address + "/p:v3":     nil,
		"https://example.com": {here: program(t, "x")},
	} {
		_, err := f.Push(t.Context(), url, files, nil)
		require.ErrorContains(t, err, "push to "+fetch.Redact(url))
	}
}

func TestAPluginThatLeftItsRegistryIsNotUsedWhereASignatureIsRequired(t *testing.T) {
	t.Parallel()
	server, address, _ := newRegistry(t, "")
	dir := t.TempDir()
	f := newFetcher(dir, noLogins(t))
	url := address + "/plugin:v1"
	_, err := f.Push(t.Context(), url, map[string]string{here: program(t, "mine")}, nil)
	require.NoError(t, err)
	r := fetch.Request{Plugin: "p", URL: url, Strict: true}
	_, err = f.Fetch(t.Context(), r)
	require.NoError(t, err)
	request, err := http.NewRequest(http.MethodDelete, server.URL+"/v2/plugin/manifests/v1", nil)
	require.NoError(t, err)
	response, err := server.Client().Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	_, err = f.Fetch(t.Context(), r)
	require.ErrorContains(t, err, "the registry has no such artifact, so what was fetched before is not used either")
	r.Strict = false
	file, err := f.Fetch(t.Context(), r)
	require.NoError(t, err)
	require.ErrorContains(t, file.Stale, "the registry has no such artifact")
}

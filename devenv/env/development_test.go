// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/client"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// author develops a plugin, and returns the next response and what ends it.
func author(t *testing.T, w *workspace.Workspace, address, name, dir string) (
	next func() (*deckv1.DevelopPluginResponse, error), leave context.CancelFunc) {
	t.Helper()
	key, err := w.Keys().APIKey()
	require.NoError(t, err)
	conn, err := client.Dial(address, key)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	stream, err := deckv1.NewPluginDevelopmentServiceClient(conn).DevelopPlugin(ctx,
		&deckv1.DevelopPluginRequest{Name: name, Directory: dir})
	require.NoError(t, err)
	return stream.Recv, leave
}

// developing are the options of an environment with two plugins.
func developing(t *testing.T, w *workspace.Workspace) Options {
	t.Helper()
	o := options(w)
	o.Plugins = []workspace.Plugin{{Name: "moon", URL: "file:///old/moon"}, {Name: "sun", URL: "file:///old/sun"}}
	o.Develop = func(name, directory string, former *workspace.Plugin) (workspace.Plugin, error) {
		if name == "mars" {
			return workspace.Plugin{}, errors.New("mars is too far")
		}
		if former == nil || former.URL != "file:///old/moon" {
			t.Errorf("it takes the place of %v", former)
		}
		return workspace.Plugin{Name: name, Source: directory}, nil
	}
	return o
}

func TestPipedRunsAPluginWhileItsAuthorIsThere(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	save := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(source, name), []byte(text), 0o600))
	}
	save("go.mod", "module example.org/moon\n\ngo 1.24\n")
	save("main.go", "package main\n\nfunc main() { moon() }\n")
	w := newWorkspace(t, "run")
	r := up(t, developing(t, w))
	pids(t, w, 1)
	connectAsPiped(t, w, r.address)

	next, leave := author(t, w, r.address, "moon", source)
	response := func() *deckv1.DevelopPluginResponse {
		t.Helper()
		got, err := next()
		require.NoError(t, err)
		return got
	}
	require.NotNil(t, response().GetBegan())
	require.Equal(t, "main.go:3:15: undefined: moon", response().GetEnded().GetError())
	refused := func(name, dir, want string) {
		t.Helper()
		another, _ := author(t, w, r.address, name, dir)
		_, err := another()
		require.Equal(t, codes.FailedPrecondition, status.Code(err))
		require.ErrorContains(t, err, want)
	}
	refused("moon", source, "plugin moon is being developed already; ")
	refused("sun", filepath.Join(source, "none"), "none is not a directory of this machine; ")
	refused("mars", source, "mars is too far; ")

	save("main.go", "package main\n\nfunc main() {}\n")
	require.NotNil(t, response().GetBegan())
	built := response().GetEnded()
	require.Empty(t, built.GetError())
	require.Len(t, built.GetBuild(), buildDigits)
	pids(t, w, 2)
	connectAsPiped(t, w, r.address)
	taken := response().GetTaken()
	require.True(t, taken.GetRestarted())
	require.Equal(t, "file:///old/moon", taken.GetFormer())
	configured := func() string {
		t.Helper()
		data, err := os.ReadFile(w.PipedConfig())
		require.NoError(t, err)
		return string(data)
	}
	require.Contains(t, configured(), w.PluginProgram("moon"))
	require.Contains(t, configured(), "file:///old/sun")

	leave()
	pids(t, w, 3)
	require.Contains(t, configured(), "file:///old/moon")
	require.NotContains(t, configured(), w.PluginProgram("moon"))
}

func TestAPluginThatTheEnvironmentBuildsAnywayStaysAsItIs(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	module := []byte("module example.org/moon\n\ngo 1.24\n")
	require.NoError(t, os.WriteFile(filepath.Join(source, "go.mod"), module, 0o600))
	main := filepath.Join(source, "main.go")
	require.NoError(t, os.WriteFile(main, []byte("package main\n\nfunc main() {}\n"), 0o600))
	w := newWorkspace(t, "run")
	o := options(w)
	o.Plugins = []workspace.Plugin{{Name: "moon", Source: source, URL: "file://" + w.PluginProgram("moon")}}
	r := up(t, o)
	pids(t, w, 1) // the first build has ended
	next, leave := author(t, w, r.address, "moon", source)
	taken, err := next()
	require.NoError(t, err)
	require.False(t, taken.GetTaken().GetRestarted())
	require.NoError(t, os.WriteFile(main, []byte("package main\n\nfunc main() { moon() }\n"), 0o600))
	for _, want := range []string{"", "main.go:3:15: undefined: moon"} {
		response, err := next()
		require.NoError(t, err)
		require.Equal(t, want, response.GetEnded().GetError())
	}
	leave()
	other, _ := author(t, w, r.address, "moon", t.TempDir())
	_, err = other()
	require.ErrorContains(t, err, "the environment builds plugin moon from "+source+"; ")
	require.Len(t, pids(t, w, 1), 1, "piped was not started again")
}

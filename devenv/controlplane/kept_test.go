// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/devenv/recorder"
)

// deckOf serves the deck API of a history.
func deckOf(t *testing.T, file string) (deck *plane, missing string) {
	t.Helper()
	api, missing, err := controlplane.Kept(file, project, pipedID, &deckv1.Environment{Name: "test"})
	require.NoError(t, err)
	server := grpc.NewServer()
	deckv1.RegisterDeckServiceServer(server, api)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		require.NoError(t, <-served)
	})
	return &plane{deck: deckv1.NewDeckServiceClient(dial(t, listener.Addr().String(), ""))}, missing
}

// content are the files of a directory with what they hold.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	}))
	return all
}

func TestAStoppedEnvironmentIsExportedAsItWasAndStaysAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "history")
	p := start(t, keepIn(file))
	p.importApplication(id("2"), "ws")
	newReplayer(t).play(p.pipedConn, recording(t, "a1"), nil)
	want := p.watch(t, false).deployments[id("3")]
	var logs []string
	for _, stage := range want.GetStages() {
		logs = append(logs, stageLogOf(t, p.deck, stage.GetId()))
	}
	p.stop()
	before := content(t, dir)

	kept, missing := deckOf(t, file)
	require.Empty(t, missing)
	exported, ended := recordSession(t, kept, recorder.Options{Snapshot: true})
	require.NoError(t, <-ended)
	require.Equal(t, before, content(t, dir), "nothing on the disk is changed")
	replayed, _ := played(t, exported)
	got := replayed.watch(t, false)
	require.Equal(t, want.String(), got.deployments[id("3")].String())
	for i, stage := range want.GetStages() {
		require.Equal(t, logs[i], stageLogOf(t, replayed.deck, stage.GetId()))
	}
	require.Empty(t, got.plugins)

	next := start(t, keepIn(file))
	require.Equal(t, want.String(), next.watch(t, false).deployments[id("3")].String())
}

func TestWhatADamagedHistoryLacksIsSaidAndTheFileStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "history")
	_, _, err := controlplane.Kept(file, project, pipedID, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	p := start(t, keepIn(file))
	p.importApplication(id("2"), "ws")
	newReplayer(t).play(p.pipedConn, recording(t, "a1"), nil)
	p.stop()
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		harm func() error
		says string
	}{
		"changed": {func() error {
			changed := append([]byte(nil), whole...)
			changed[len(changed)/2] ^= 1
			return os.WriteFile(file, changed, 0o600)
		}, "the history "},
		"emptied": {func() error { return os.Truncate(file, 0) }, "missing: all of it"},
		"deleted": {func() error { return os.Remove(file) }, "was deleted or moved"},
	} {
		require.NoError(t, c.harm())
		before := content(t, dir)
		_, missing := deckOf(t, file)
		require.Contains(t, missing, c.says, name)
		require.Equal(t, before, content(t, dir), name)
		require.NoError(t, os.WriteFile(file, whole, 0o600))
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReportsGoToTheirOwnControlPlaneOnly(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "spool")
	first, second := newWorld(t), newWorld(t)
	owner := func(w *world) Owner { return Owner{w.address, "dev", "p"} }
	var log bytes.Buffer
	at := func(o Owner) string {
		log.Reset()
		dir, err := Directory(root, o, slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, err)
		return dir
	}
	dir := at(owner(first))
	require.Empty(t, log.String())
	s := first.open(t, dir)
	first.stop()
	stage(t, s, "kept")
	require.NoError(t, s.Close())

	other := second.open(t, at(owner(second)))
	require.Contains(t, log.String(), fmt.Sprintf(`reports=1 for="control plane %s, project dev, piped p" directory=%s`,
		first.address, dir))
	stopped := run(t, other)
	stage(t, other, "own")
	empty(t, other)
	stopped()
	require.Equal(t, []string{"ReportStageStatusChanged own"}, second.heard())

	first.back(t)
	require.Equal(t, dir, at(owner(first)))
	require.Empty(t, log.String(), "the empty directory of the other is removed")
	again := first.open(t, dir)
	run(t, again)
	empty(t, again)
	require.Equal(t, []string{"ReportStageStatusChanged kept"}, first.heard())
	for _, o := range []Owner{{first.address, "dev", "q"}, {first.address, "other", "p"},
		{"x" + first.address, "dev", "p"}} {
		require.NotEqual(t, dir, at(o))
	}
}

func TestReportsOfOthersAreBounded(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	for i := range maxOthers + 3 {
		dir, err := Directory(root, Owner{Address: fmt.Sprint(i)}, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%016x.report", i)), nil, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "0000000000000000.report"), nil, 0o600))
	_, err := Directory(root, Owner{Address: "mine"}, logger)
	require.NoError(t, err)
	left, err := filepath.Glob(filepath.Join(root, "*", "*.report"))
	require.NoError(t, err)
	require.Len(t, left, maxOthers)
	require.Contains(t, log.String(), "too many of them")
	require.Contains(t, log.String(), "do not name their control plane")
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/system/gittest"
)

func TestASourceIsPreparedFromAMirrorThatWasDamaged(t *testing.T) {
	t.Parallel()
	user := gittest.Init(t)
	gittest.Write(t, user, "app.pipecd.yaml", goodConfig)
	head := gittest.Commit(t, user, "First")
	file := gittest.Run(t, user, "rev-parse", "HEAD:app.pipecd.yaml")
	options := git.Options{ID: "apps", Remote: user, Branch: "main", Dir: filepath.Join(t.TempDir(), "mirror")}
	mirror, err := git.Open(t.Context(), options)
	require.NoError(t, err)
	_, err = mirror.Update(t.Context())
	require.NoError(t, err)
	object := filepath.Join(options.Dir, "objects", file[:2], file[2:])
	require.NoError(t, os.Chmod(object, 0o600))
	require.NoError(t, os.Truncate(object, 4))

	again, err := git.Open(t.Context(), options)
	require.NoError(t, err)
	source, err := newStore(t).Prepare(t.Context(), Request{Repository: again, Commit: head, Path: "."})
	require.NoError(t, err)
	require.Equal(t, goodConfig, string(source.RawConfig))
	require.NoError(t, source.Close())
}

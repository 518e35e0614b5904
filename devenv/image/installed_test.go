// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAProgramThatWasCompiledBeforehandNeedsNoGo(t *testing.T) {
	repository, installed, cache := simple(t), t.TempDir(), t.TempDir()
	const reference = "pipedeck.dev/web:v1"
	compile := func() error {
		return CompileAll(t.Context(), repository, []string{reference, reference}, []Platform{platform}, installed)
	}
	require.NoError(t, compile())
	require.ErrorContains(t, compile(), "exists", "nothing is overwritten")
	require.Error(t, CompileAll(t.Context(), repository, []string{"pipedeck.dev/none:v1"}, nil, installed))

	t.Setenv("PATH", t.TempDir())
	said := 0
	count := func(string) { said++ }
	s := find(t, repository, reference)
	_, err := newBuilder(cache).Build(t.Context(), s, platform, []string{reference}, count)
	require.ErrorIs(t, err, ErrNoGo)

	b := newBuilder(cache)
	b.Installed = installed
	program, err := b.Program(t.Context(), s, platform, count)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(installed, "linux-"+platform.Architecture, s.Digest), program)
	archive, err := b.Build(t.Context(), s, platform, []string{reference}, count)
	require.NoError(t, err)
	require.FileExists(t, archive)
	again, err := b.Build(t.Context(), s, platform, []string{reference}, count)
	require.NoError(t, err)
	require.Equal(t, archive, again)

	// A program that others could have changed is none, and neither is one of other sources.
	require.NoError(t, os.Chmod(program, 0o777))
	_, err = b.Program(t.Context(), s, platform, count)
	require.ErrorIs(t, err, ErrNoGo)
	require.NoError(t, os.Chmod(program, 0o555))
	write(t, filepath.Join(repository, "web", "main.go"), "package main\n\nfunc main() { println(2) }\n")
	_, err = b.Program(t.Context(), find(t, repository, reference), platform, count)
	require.ErrorIs(t, err, ErrNoGo)
}

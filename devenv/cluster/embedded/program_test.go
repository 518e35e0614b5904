// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded/sources"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

// checkout makes a repository whose embedded program is a small one.
func checkout(t *testing.T) *Program {
	t.Helper()
	root := t.TempDir()
	source := filepath.Join(root, "devenv", programName)
	write(t, filepath.Join(source, "go.mod"), "module example.com/embedded\n\ngo 1.26\n")
	write(t, filepath.Join(source, "main.go"), "package main\n\nfunc main() { println(\"hello\") }\n")
	return &Program{Installed: filepath.Join(root, "bin"), Source: source, CacheDir: filepath.Join(root, "cache")}
}

func silent(string, int64, int64) {}

func TestAProgramThatTheVariableNamesHasToBeOne(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "plain")
	write(t, file, "x")
	for path, why := range map[string]string{
		filepath.Join(dir, "nope"): "there is no such file", dir: "it is not a file", file: "it is not executable",
	} {
		t.Setenv(ProgramVariable, path)
		_, err := (&Program{}).Ensure(t.Context(), silent)
		require.EqualError(t, err, "PIPEDECK_EMBEDDEDK8S names "+path+" as the embedded Kubernetes: "+why)
		hint := (*cluster.HintError)(nil)
		require.ErrorAs(t, err, &hint)
		require.Contains(t, hint.Hint, "unset PIPEDECK_EMBEDDEDK8S")
	}
	require.NoError(t, os.Chmod(file, 0o700))
	t.Setenv(ProgramVariable, file)
	found, err := (&Program{}).Look()
	require.NoError(t, err)
	require.Equal(t, file, found.Path)
}

func TestSourcesAboveTheWorkingDirectoryAreNotCompiled(t *testing.T) {
	planted := checkout(t)
	t.Chdir(filepath.Dir(planted.Source))
	for _, digest := range []string{"", strings.Repeat("a", 64)} {
		was := builtFrom
		builtFrom = digest
		t.Cleanup(func() { builtFrom = was })
		p, err := NewProgram()
		require.NoError(t, err)
		require.NotContains(t, p.Source, filepath.Dir(planted.Source))
		_, err = p.Ensure(context.Background(), silent)
		require.ErrorIs(t, err, ErrNoProgram)
	}
}

func TestOnlyTheSourcesThatThisProgramWasBuiltFromAreCompiled(t *testing.T) {
	p := checkout(t)
	files, err := sources.Read(p.Source)
	require.NoError(t, err)
	p.Digest = files.Digest()
	_, err = p.Ensure(context.Background(), silent)
	require.NoError(t, err)

	write(t, filepath.Join(p.Source, "more.go"), "package main\n\nfunc init() { panic(\"planted\") }\n")
	_, err = p.Ensure(context.Background(), silent)
	var hint *cluster.HintError
	require.ErrorAs(t, err, &hint)
	require.ErrorContains(t, err, "are not those that this pipedeck was built with")
	require.Contains(t, hint.Hint, "make build")
}

func TestNothingBesidesTheSourcesGetsIntoTheProgram(t *testing.T) {
	p := checkout(t)
	files, err := sources.Read(p.Source)
	require.NoError(t, err)
	// The go command would compile the first, and build by the second.
	write(t, filepath.Join(p.Source, "planted.s"), "this is not assembly\n")
	write(t, filepath.Join(p.Source, "vendor", "modules.txt"), "# nonsense\n")
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(p.Source, "link.go")))
	again, err := sources.Read(p.Source)
	require.NoError(t, err)
	require.Equal(t, files.Digest(), again.Digest())
	_, err = p.Ensure(context.Background(), silent)
	require.NoError(t, err)
	left, err := filepath.Glob(filepath.Join(p.CacheDir, "*", "sources"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestTheProgramIsCompiledOnceForEachStateOfItsSources(t *testing.T) {
	p := checkout(t)
	var said []string
	first, err := p.Ensure(context.Background(), func(detail string, _, _ int64) { said = append(said, detail) })
	require.NoError(t, err)
	require.FileExists(t, first)
	require.NotEmpty(t, said, "compiling shows progress")

	said = nil
	again, err := p.Ensure(context.Background(), func(detail string, _, _ int64) { said = append(said, detail) })
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Empty(t, said, "nothing was compiled")

	write(t, filepath.Join(p.Source, "more.go"), "package main\n\nvar more = 1\n")
	changed, err := p.Ensure(context.Background(), silent)
	require.NoError(t, err)
	require.NotEqual(t, first, changed)
}

func TestOldProgramsAreRemovedFromTheCache(t *testing.T) {
	p := checkout(t)
	long := time.Now().Add(-2 * keptTime)
	write(t, filepath.Join(p.CacheDir, "documents", "thesis.txt"), "years")
	require.NoError(t, os.Chtimes(filepath.Join(p.CacheDir, "documents"), long, long))
	for _, name := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc", "dddddddddddddddd"} {
		old := filepath.Join(p.CacheDir, name)
		write(t, filepath.Join(old, programName), "")
		long = long.Add(time.Minute)
		require.NoError(t, os.Chtimes(old, long, long))
	}
	path, err := p.Ensure(context.Background(), silent)
	require.NoError(t, err)
	require.FileExists(t, path)
	left, err := os.ReadDir(p.CacheDir)
	require.NoError(t, err)
	require.Len(t, left, keptPrograms+1)
	require.NoDirExists(t, filepath.Join(p.CacheDir, "aaaaaaaaaaaaaaaa"))
	require.DirExists(t, filepath.Join(p.CacheDir, "dddddddddddddddd"))
	require.FileExists(t, filepath.Join(p.CacheDir, "documents", "thesis.txt"), "it is not ours")
}

func TestAProgramThatWasJustFoundIsKept(t *testing.T) {
	p := checkout(t)
	found, err := p.Ensure(context.Background(), silent)
	require.NoError(t, err)
	long := time.Now().Add(-2 * keptTime)
	require.NoError(t, os.Chtimes(filepath.Dir(found), long, long))
	_, err = p.Ensure(context.Background(), silent) // and it is about to be started
	require.NoError(t, err)
	for i := range keptPrograms {
		write(t, filepath.Join(p.Source, "more.go"), fmt.Sprintf("package main\n\nvar more = %d\n", i))
		_, err := p.Ensure(context.Background(), silent)
		require.NoError(t, err)
	}
	require.FileExists(t, found)
}

func TestWhoeverWaitsForACompilationCanBeInterrupted(t *testing.T) {
	p := checkout(t)
	files, err := sources.Read(p.Source)
	require.NoError(t, err)
	dir := filepath.Dir(p.compiled(files.Digest()))
	require.NoError(t, os.MkdirAll(dir, 0o755))
	unlock, err := lock(context.Background(), dir, silent)
	require.NoError(t, err)
	defer unlock()
	ctx, cancel := context.WithCancel(context.Background())
	_, err = p.Ensure(ctx, func(detail string, _, _ int64) {
		require.Contains(t, detail, "another pipedeck")
		cancel()
	})
	require.ErrorIs(t, err, context.Canceled)
}

func TestACompilerErrorIsShownAndLeavesNothingThatLooksFinished(t *testing.T) {
	p := checkout(t)
	write(t, filepath.Join(p.Source, "main.go"), "package main\n\nfunc main() { undefinedThing() }\n")
	_, err := p.Ensure(context.Background(), silent)
	require.ErrorContains(t, err, "undefinedThing")
	found, err := filepath.Glob(filepath.Join(p.CacheDir, "*", programName+"*"))
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestWithoutSourcesTheErrorSaysWhatToDo(t *testing.T) {
	p := &Program{Installed: t.TempDir(), CacheDir: t.TempDir()}
	_, err := p.Ensure(context.Background(), silent)
	require.ErrorIs(t, err, ErrNoProgram)
}

func TestAProgramNextToOursIsUsedAsItIs(t *testing.T) {
	p := checkout(t)
	installed := filepath.Join(p.Installed, programName)
	write(t, installed, "#!/bin/sh\n")
	require.NoError(t, os.Chmod(installed, 0o755))
	path, err := p.Ensure(context.Background(), silent)
	require.NoError(t, err)
	require.Equal(t, installed, path)
}

func TestCompilingEndsWhenItIsInterrupted(t *testing.T) {
	p := checkout(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(context.Canceled)
	_, err := p.Ensure(ctx, silent)
	require.ErrorIs(t, err, context.Canceled)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/image/archive"

	"github.com/pipedeck/pipedeck/system/filetest"
)

var platform = Platform{OS: "linux", Architecture: runtime.GOARCH}

// program is a small one: compiling it takes no standard library to speak of.
const program = "package main\n\nvar build = \"local\"\n\nfunc main() { println(build) }\n"

// repository makes a directory with files.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	return filetest.Write(t, t.TempDir(), files)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

func simple(t *testing.T) string {
	return repository(t, map[string]string{"go.mod": "module sample\n\ngo 1.26\n", "web/main.go": program})
}

func find(t *testing.T, directory, reference string) *Sources {
	t.Helper()
	s, err := FindSources(directory, reference)
	require.NoError(t, err)
	require.NotNil(t, s)
	return s
}

func mustBuild(t *testing.T, b *Builder, s *Sources, references ...string) string {
	t.Helper()
	path, err := b.Build(t.Context(), s, platform, append(references, s.Reference()), func(string) {})
	require.NoError(t, err)
	return path
}

func TestTheSameSourcesGiveTheSameBytesWhereverTheyAre(t *testing.T) {
	t.Parallel()
	var archives [][]byte
	for range 2 {
		s := find(t, simple(t), "pipedeck.dev/web:v1")
		content, err := os.ReadFile(mustBuild(t, newBuilder(t.TempDir()), s, "pipedeck.dev/web:v1"))
		require.NoError(t, err)
		archives = append(archives, content)
	}
	require.True(t, bytes.Equal(archives[0], archives[1]))
}

func TestAnArchiveHoldsTheProgramForTheNode(t *testing.T) {
	t.Parallel()
	s := find(t, simple(t), "pipedeck.dev/web")
	path := mustBuild(t, newBuilder(t.TempDir()), s, "pipedeck.dev/web", "pipedeck.dev/web:v1")
	for _, reference := range []string{s.Reference(), "pipedeck.dev/web:latest", "pipedeck.dev/web:v1"} {
		tag, err := name.NewTag(reference)
		require.NoError(t, err)
		img, err := tarball.ImageFromPath(path, &tag)
		require.NoError(t, err, reference)
		cfg, err := img.ConfigFile()
		require.NoError(t, err)
		require.Equal(t, platform, Platform{cfg.OS, cfg.Architecture})
		require.Equal(t, []string{"/app"}, cfg.Config.Entrypoint)
		require.Equal(t, "65532:65532", cfg.Config.User)
		layers, err := img.Layers()
		require.NoError(t, err)
		require.Len(t, layers, 1)
		content, err := layers[0].Uncompressed()
		require.NoError(t, err)
		files := map[string]*tar.Header{}
		var app []byte
		for in := tar.NewReader(content); ; {
			h, err := in.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			files[h.Name] = h
			if h.Name == "app" {
				app, err = io.ReadAll(in)
				require.NoError(t, err)
			}
		}
		require.NoError(t, content.Close())
		require.EqualValues(t, 0o555, files["app"].Mode)
		require.EqualValues(t, 0o1777, files["tmp/"].Mode)
		require.Equal(t, "\x7fELF", string(app[:4]))
		require.Contains(t, string(app), s.tag(), "the program knows its build")
		require.NotContains(t, string(app), s.Directory, "but not where it was made")
	}
}

func TestWhatIsBuiltIsKept(t *testing.T) {
	t.Parallel()
	dir, cache := simple(t), t.TempDir()
	s := find(t, dir, "pipedeck.dev/web:v1")
	path := mustBuild(t, newBuilder(cache), s)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	again, err := newBuilder(cache).Build(t.Context(), s, platform, []string{s.Reference()},
		func(line string) { t.Error("said: " + line) })
	require.NoError(t, err)
	require.Equal(t, path, again)

	renamed, err := newBuilder(cache).Build(t.Context(), s, platform, []string{s.Reference(), "pipedeck.dev/web:v1"},
		func(line string) { t.Error("said: " + line) })
	require.NoError(t, err, "another name needs no compiler")
	require.NotEqual(t, path, renamed)
	require.Empty(t, partials(t, cache))
}

func partials(t *testing.T, cache string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(cache, partialPrefix+"*"))
	require.NoError(t, err)
	return found
}

func TestTheCacheIsBounded(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	long := time.Now().Add(-time.Hour)
	for i := range maxArchives + 5 {
		path := filepath.Join(cache, fmt.Sprintf("%064x.tar", i))
		write(t, path, "")
		require.NoError(t, os.Chtimes(path, long, long.Add(time.Duration(i)*time.Second)))
	}
	write(t, filepath.Join(cache, partialPrefix+"of-a-killed-one", "program"), "")
	theirs := filepath.Join(cache, "documents", "thesis.txt")
	write(t, theirs, "years")
	path := mustBuild(t, newBuilder(cache), find(t, simple(t), "pipedeck.dev/web"))
	require.FileExists(t, path)
	left, err := filepath.Glob(filepath.Join(cache, "*.tar"))
	require.NoError(t, err)
	programs, err := filepath.Glob(filepath.Join(cache, "*"+programSuffix))
	require.NoError(t, err)
	require.Len(t, programs, 1)
	require.Len(t, append(left, programs...), maxArchives)
	require.NoFileExists(t, filepath.Join(cache, fmt.Sprintf("%064x.tar", 0)))
	require.FileExists(t, filepath.Join(cache, fmt.Sprintf("%064x.tar", maxArchives+4)))
	require.Empty(t, partials(t, cache))
	require.FileExists(t, theirs, "it is not ours")

	huge := filepath.Join(cache, strings.Repeat("f", 64)+".tar")
	write(t, huge, "")
	require.NoError(t, os.Truncate(huge, maxArchiveBytes)) // holds no blocks
	future := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(huge, future, future))
	require.NoError(t, newBuilder(cache).prune())
	left, err = filepath.Glob(filepath.Join(cache, "*.tar"))
	require.NoError(t, err)
	require.NotContains(t, left, path, "all together have a bound in bytes")
	require.Contains(t, left, huge, "but the newest stays")
}

func TestACompilerErrorIsReportedWithPlacesInTheRepository(t *testing.T) {
	t.Parallel()
	files := map[string]string{"main.go": "package main\n\nimport \"sample/lib\"\n\n" +
		"func main() { lib.F(undefinedThing) }\n", "../lib/lib.go": "package lib\n\nfunc F(int) {}\n"}
	for name, module := range map[string]string{"the module is the repository": ".",
		"the module is a folder of it": "services"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, cache := t.TempDir(), t.TempDir()
			write(t, filepath.Join(dir, module, "go.mod"), "module sample\n\ngo 1.26\n")
			for file, content := range files {
				write(t, filepath.Join(dir, module, "web", file), content)
			}
			folder := filepath.ToSlash(filepath.Join(module, "web"))
			_, err := newBuilder(cache).Build(t.Context(), find(t, dir, Domain+"/"+folder), platform, nil,
				func(string) {})
			var complaint *CompileError
			require.ErrorAs(t, err, &complaint)
			require.Equal(t, folder+"/main.go:5:21: undefined: undefinedThing", complaint.Output)
			left, err := filepath.Glob(filepath.Join(cache, "*.tar"))
			require.NoError(t, err)
			require.Empty(t, left)
			require.Empty(t, partials(t, cache))
		})
	}
}

func TestWhatCannotBeBuiltIsExplained(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a library": {map[string]string{"go.mod": "module sample\n",
			"web/lib.go": "package lib\n"}, "web is a Go library, not a program"},
		"a folder without a module": {map[string]string{"web/main.go": program}, "go.mod"},
		"a package that is not there": {map[string]string{"go.mod": "module sample\n",
			"web/main.go": "package main\n\nimport _ \"sample/gone\"\n\nfunc main() {}\n"}, "sample/gone"},
		"a module outside the repository": {map[string]string{"go.mod": "module sample\n\nrequire x.example/y " +
			"v1.0.0\n\nreplace x.example/y => ../y\n", "web/main.go": program}, "../y, which is not in the repository"},
		"a syntax error": {map[string]string{"go.mod": "module sample\n",
			"web/main.go": "package main\n\nfunc main( {\n"}, "web/main.go:3:12: syntax error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := find(t, repository(t, c.files), "pipedeck.dev/web:v1")
			_, err := newBuilder(t.TempDir()).Build(t.Context(), s, platform, nil, func(string) {})
			var complaint *CompileError
			require.ErrorAs(t, err, &complaint)
			require.ErrorContains(t, complaint, c.want)
		})
	}
}

func TestACompilersWordsAreBounded(t *testing.T) {
	t.Parallel()
	said := relativePaths("# sample\n"+strings.Repeat("./main.go:1:1: wrong\n", 10_000), "/nowhere", "web")
	require.LessOrEqual(t, len(said), maxComplaint+len("…"))
	require.True(t, strings.HasPrefix(said, "web/main.go:1:1: wrong\nweb/main.go"), said[:100])
	require.True(t, strings.HasSuffix(said, "…"))
}

func TestWhoeverWaitsForAnotherBuildCanBeInterrupted(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	unlock, err := lock(t.Context(), cache, func(string) {})
	require.NoError(t, err)
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	_, err = newBuilder(cache).Build(ctx, find(t, simple(t), "pipedeck.dev/web"), platform, nil, func(line string) {
		require.Contains(t, line, "another pipedeck")
		cancel()
	})
	require.ErrorIs(t, err, context.Canceled)
}

func TestBuildersThatShareACacheBuildOnce(t *testing.T) {
	t.Parallel()
	cache, s := t.TempDir(), find(t, simple(t), "pipedeck.dev/web")
	built := make(chan string, 64)
	ended := make(chan error)
	shared := newBuilder(cache)
	for i := range 6 {
		b := shared
		if i%2 == 0 {
			b = newBuilder(cache) // as another process
		}
		go func() {
			_, err := b.Build(t.Context(), s, platform, []string{s.Reference()}, func(line string) {
				if strings.HasPrefix(line, "Building") {
					built <- line
				}
			})
			ended <- err
		}()
	}
	for range 6 {
		require.NoError(t, <-ended)
	}
	require.Len(t, built, 1)
}

func TestAnInterruptedBuildEndsTheCompilerAndLeavesNothing(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := newBuilder(cache).Build(ctx, find(t, simple(t), "pipedeck.dev/web"), platform, nil,
		func(string) { cancel() })
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, partials(t, cache))
}

func TestWithoutGoTheNextStepIsShown(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := newBuilder(t.TempDir()).Build(t.Context(), find(t, simple(t), "pipedeck.dev/web"), platform, nil,
		func(string) {})
	require.ErrorIs(t, err, ErrNoGo)
	require.ErrorContains(t, err, "https://go.dev/dl")
}

func newBuilder(cache string) *Builder { return NewBuilder(cache, archive.Writer{}) }

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginsource

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/chantest"
	"github.com/pipedeck/pipedeck/system/filewatch"
)

const goodRecipe = `build: [sh, -c, "mkdir -p out && cat words/* > out/text && ! grep broken out/text"]
run: [sh, ./run.sh, it's]
watch: ["words/**", run.sh]
`

// scripted writes a plugin of shell scripts that prints its arguments and what its build has made of its sources. The
// name of its directory is one that a shell would take apart.
func scripted(t *testing.T) *Source {
	t.Helper()
	dir := filepath.Join(t.TempDir(), `a "plugin's" $HOME`)
	write(t, filepath.Join(dir, config.KindPluginFile), goodRecipe)
	write(t, filepath.Join(dir, "run.sh"), `echo "$(cat out/text) $*"`+"\n")
	write(t, filepath.Join(dir, "words", "first"), "one\n")
	return &Source{Dir: dir, Program: filepath.Join(t.TempDir(), "bin", "plugin"),
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
}

func output(t *testing.T, s *Source, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), s.Program, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

func TestAPluginOfARecipeIsBuiltAndRunsInItsDirectory(t *testing.T) {
	t.Parallel()
	s := scripted(t)
	require.NoError(t, s.Build(t.Context()))
	require.Equal(t, "one it's start --config {}", output(t, s, "start", "--config", "{}"))
	first, err := os.ReadFile(s.Program)
	require.NoError(t, err)
	require.NoError(t, s.Build(t.Context()))
	again, err := os.ReadFile(s.Program)
	require.NoError(t, err)
	require.Equal(t, first, again, "the same sources are the same program")
	write(t, filepath.Join(s.Dir, "run.sh"), "echo other\n")
	require.NoError(t, s.Build(t.Context()))
	again, err = os.ReadFile(s.Program)
	require.NoError(t, err)
	require.NotEqual(t, first, again, "piped has to see that it is another program")
}

func TestAPluginOfARecipeIsBuiltAgainWhenAFileOfItChanges(t *testing.T) {
	t.Parallel()
	s := scripted(t)
	ctx, cancel := context.WithCancel(t.Context())
	ends, watching := make(chan error, 100), make(chan error, 1)
	go func() { watching <- s.Run(ctx, func() {}, func(_ time.Duration, err error) { ends <- err }) }()
	defer func() { cancel(); require.NoError(t, chantest.Receive(t, watching)) }()
	require.NoError(t, chantest.Receive(t, ends))
	require.Equal(t, "one it's", output(t, s))
	write(t, filepath.Join(s.Dir, "words", "first"), "two\n")
	require.NoError(t, chantest.Receive(t, ends))
	require.Equal(t, "two it's", output(t, s))

	write(t, filepath.Join(s.Dir, "words", "first"), "broken\n")
	var broken *CompileError
	require.ErrorAs(t, chantest.Receive(t, ends), &broken)
	require.Contains(t, broken.Output, "sh -c")
	require.Contains(t, broken.Output, "exit status 1")
	said := &CompileError{
		Dir: "/src", Output: "a.go:1: undefined: b\n\na.go:2: missing return\ngo build: exit status 1",
	}
	require.Equal(t, "/src does not compile: a.go:1: undefined: b; a.go:2: missing return; go build: exit status 1",
		said.Line())
	require.Equal(t, config.BuildFailed, config.ReadBuildStatus(s.Program).State)

	write(t, filepath.Join(s.Dir, config.KindPluginFile), "run: 3\n")
	for {
		require.ErrorAs(t, chantest.Receive(t, ends), &broken)
		if strings.Contains(broken.Output, "want a list") {
			break
		}
	}
	write(t, filepath.Join(s.Dir, config.KindPluginFile), strings.Replace(goodRecipe, "words/*", "words/*/*", 1))
	write(t, filepath.Join(s.Dir, "words", "more", "second"), "three\n")
	for chantest.Receive(t, ends) != nil || output(t, s) != "three it's" {
	}
	write(t, filepath.Join(s.Dir, "words", "more", "second"), "four\n")
	for chantest.Receive(t, ends) != nil || output(t, s) != "four it's" {
	}
}

func TestWhatABuildWritesDoesNotBeginTheNext(t *testing.T) {
	t.Parallel()
	s := scripted(t)
	w := &watched{source: s, files: filewatch.New(filewatch.Options{Most: maxDirs}), known: map[string]bool{}}
	defer w.files.Close()
	_, err := w.refresh(t.Context())
	require.NoError(t, err)
	before := time.Now().Add(-time.Hour)
	for name, want := range map[string]bool{
		"out/text": false, "notes.txt": false, "node_modules/words/a": false, "words/second": true, "run.sh": true,
		"words/deep/er/third": true, config.KindPluginFile: true,
	} {
		write(t, filepath.Join(s.Dir, filepath.FromSlash(name)), "x")
		top, _, _ := strings.Cut(strings.TrimPrefix(name, "words/"), "/")
		changed := filepath.Join(s.Dir, top)
		if strings.HasPrefix(name, "words/") {
			changed = filepath.Join(s.Dir, "words", top)
		}
		require.Equal(t, want, w.concerns(fsnotify.Event{Name: changed, Op: fsnotify.Create}), name)
	}
	require.False(t, w.writtenSince(filepath.Join(s.Dir, "out"), before), "the first build has made it")
	require.True(t, w.writtenSince(filepath.Join(s.Dir, "words"), before))
	third := filepath.Join(s.Dir, "words", "deep", "er", "third")
	require.True(t, w.concerns(fsnotify.Event{Name: third, Op: fsnotify.Write}), "its directory is watched")
}

func TestAProgramOfOurSDKIsRunWithALink(t *testing.T) {
	t.Parallel()
	s := scripted(t)
	require.NoError(t, s.Build(t.Context()))
	program, err := os.ReadFile(s.Program)
	require.NoError(t, err)
	require.NotContains(t, string(program), config.PluginLinkVariable)
	write(t, filepath.Join(s.Dir, "plugin"), "#!/bin/sh\n# "+config.PluginLinkVariable+"\n")
	write(t, filepath.Join(s.Dir, config.KindPluginFile), "run: [./plugin]\n")
	require.NoError(t, s.Build(t.Context()))
	program, err = os.ReadFile(s.Program)
	require.NoError(t, err)
	require.Contains(t, string(program), config.PluginLinkVariable)
}

func TestARecipeWatchesWhatItsPatternsName(t *testing.T) {
	t.Parallel()
	for pattern, c := range map[string]struct{ in, out []string }{
		"**":          {in: []string{"a", "a/b/c"}},
		"*.py":        {in: []string{"a.py"}, out: []string{"a/b.py", "a.pyc"}},
		"**/*.py":     {in: []string{"a.py", "a/b.py", "a/b/c.py"}, out: []string{"a.pyc", "a.py/b"}},
		"src/**":      {in: []string{"src/a", "src/a/b"}, out: []string{"a", "lib/src/a"}},
		"src/**/a/*":  {in: []string{"src/a/b", "src/x/y/a/b"}, out: []string{"src/a", "src/a/b/c"}},
		"package.*":   {in: []string{"package.json"}, out: []string{"packages"}},
		"**/a/**/b/*": {in: []string{"a/b/c", "x/a/y/b/c"}, out: []string{"b/c", "a/b"}},
	} {
		r := &recipe{watch: []string{pattern}}
		require.True(t, r.watches(config.KindPluginFile))
		for _, name := range c.in {
			require.True(t, r.watches(name), "%s %s", pattern, name)
		}
		for _, name := range c.out {
			require.False(t, r.watches(name), "%s %s", pattern, name)
		}
	}
}

func TestDirectoriesOfPackageManagersAreNotWatched(t *testing.T) {
	t.Parallel()
	s := scripted(t)
	for _, name := range []string{"node_modules/a/b.js", ".venv/lib/c.py", ".git/HEAD", "lib/__pycache__/d.pyc"} {
		write(t, filepath.Join(s.Dir, filepath.FromSlash(name)), "x")
	}
	dirs, err := (&recipe{watch: []string{"**"}}).directories(s.Dir)
	require.NoError(t, err)
	require.Equal(t, []string{s.Dir, filepath.Join(s.Dir, "lib"), filepath.Join(s.Dir, "words")}, dirs)
}

func TestTooManyFilesAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range maxWatched + 1 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600))
	}
	_, err := (&recipe{watch: []string{"**"}}).digest(dir)
	require.ErrorContains(t, err, "more than 10000 files are watched; name fewer with watch in piped-plugin.yaml")
}

func TestABuildAfterASaveMayUseAllCores(t *testing.T) {
	if _, chosen := os.LookupEnv("GOMAXPROCS"); chosen {
		t.Skip("GOMAXPROCS is set here, and stays")
	}
	t.Parallel()
	s := scripted(t)
	write(t, filepath.Join(s.Dir, config.KindPluginFile),
		"build: [sh, -c, 'echo x$GOMAXPROCS > out']\nrun: [cat, out]\nwatch: [\"words/**\"]\n")
	require.NoError(t, s.Build(t.Context()))
	require.NoError(t, s.Build(t.Context()))
	require.Equal(t, "x", output(t, s))
}

func TestATextIsFoundWhereverAReadEnds(t *testing.T) {
	t.Parallel()
	text := []byte("the text")
	for before := range 3 * searched {
		if before > 100 && before%searched > 20 && before%searched < searched-20 {
			continue
		}
		program := append(bytes.Repeat([]byte{'t'}, before), text...)
		require.True(t, contains(bytes.NewReader(program), text), before)
		require.False(t, contains(bytes.NewReader(program[:len(program)-1]), text), before)
	}
	require.True(t, contains(iotest.OneByteReader(strings.NewReader("a the text")), text))
	require.False(t, contains(strings.NewReader(""), text))
}

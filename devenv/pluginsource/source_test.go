// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginsource

import (
	"context"
	"debug/buildinfo"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/chantest"
)

const wait = time.Minute

// module writes a module with a program that prints what its package words says.
func module(t *testing.T) (root string, s *Source) {
	t.Helper()
	root = t.TempDir()
	write(t, filepath.Join(root, "go.mod"), "module example.org/plugin\n\ngo 1.24\n")
	write(t, filepath.Join(root, "words", "words.go"), "package words\n\nconst First = \"one\"\n")
	write(t, filepath.Join(root, "cmd", "plugin", "main.go"),
		"package main\n\nimport \"example.org/plugin/words\"\n\nfunc main() { println(words.First) }\n")
	return root, &Source{
		Dir: filepath.Join(root, "cmd", "plugin"), Program: filepath.Join(t.TempDir(), "bin", "plugin"),
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	next := path + ".tmp" // in one step: half a file does not compile
	require.NoError(t, os.WriteFile(next, []byte(text), 0o600))
	require.NoError(t, os.Rename(next, path))
}

func says(t *testing.T, s *Source) string {
	t.Helper()
	out, err := exec.Command(s.Program).CombinedOutput()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

func TestAProgramIsBuiltAgainWhenAPackageThatItImportsChanges(t *testing.T) {
	t.Parallel()
	root, s := module(t)
	ctx, cancel := context.WithCancel(t.Context())
	ends := make(chan error, 100)
	watching := make(chan error, 1)
	go func() {
		watching <- s.Run(ctx, func() {}, func(_ time.Duration, err error) { ends <- err })
	}()
	require.NoError(t, chantest.Receive(t, ends))
	require.Equal(t, "one", says(t, s))
	require.Equal(t, config.BuildStatus{State: config.BuildDone}, config.ReadBuildStatus(s.Program))
	// A change of several files may be built in several steps.
	saysAfter := func(want, path, text string) {
		t.Helper()
		write(t, path, text)
		for {
			require.NoError(t, chantest.Receive(t, ends))
			if says(t, s) == want {
				return
			}
		}
	}
	words := filepath.Join(root, "words", "words.go")
	saysAfter("two", words, "package words\n\nconst First = \"two\"\n")

	write(t, words, "package words\n\nconst First = 3 +\n")
	var broken *CompileError
	require.ErrorAs(t, chantest.Receive(t, ends), &broken)
	require.Contains(t, broken.Output, filepath.Join("words", "words.go")+":4")
	require.Equal(t, "two", says(t, s), "the last program that compiled stays")
	status := config.ReadBuildStatus(s.Program)
	require.Equal(t, config.BuildFailed, status.State)
	require.Contains(t, status.Reason, "words.go")

	saysAfter("three", words, "package words\n\nconst First = \"three\"\n")
	// A package that is new to the program is watched from then on.
	more := filepath.Join(root, "more", "more.go")
	write(t, more, "package more\n\nconst Second = \"four\"\n")
	saysAfter("four", filepath.Join(s.Dir, "main.go"),
		"package main\n\nimport \"example.org/plugin/more\"\n\nfunc main() { println(more.Second) }\n")
	saysAfter("five", more, "package more\n\nconst Second = \"five\"\n")
	cancel()
	require.NoError(t, <-watching)
	require.Zero(t, config.ReadBuildStatus(s.Program), "the program is not built any more")
}

func TestAProgramHasCOnlyWhenItsPackagesUseIt(t *testing.T) {
	// make sets it, and a user's own choice counts. t.Setenv puts back what was there.
	t.Setenv("CGO_ENABLED", "0")
	require.NoError(t, os.Unsetenv("CGO_ENABLED"))
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no C compiler: gcc")
	}
	root, s := module(t)
	ctx, cancel := context.WithCancel(t.Context())
	ends := make(chan error, 100)
	watching := make(chan error, 1)
	go func() {
		watching <- s.Run(ctx, func() {}, func(_ time.Duration, err error) { ends <- err })
	}()
	require.NoError(t, chantest.Receive(t, ends))
	require.Equal(t, "CGO_ENABLED=0", cgoOf(t, s.Program))

	// A package with C that also compiles without it: a build that leaves C out would not fail.
	words := filepath.Join(root, "words")
	write(t, filepath.Join(words, "words.go"), "//go:build !cgo\n\npackage words\n\nconst First = \"without C\"\n")
	write(t, filepath.Join(words, "c.go"), "package words\n\n// const int two = 2;\nimport \"C\"\n\n"+
		"var First = []string{\"zero\", \"one\", \"with C\"}[C.two]\n")
	for says(t, s) != "with C" {
		require.NoError(t, chantest.Receive(t, ends))
	}
	require.Equal(t, "CGO_ENABLED=1", cgoOf(t, s.Program))
	cancel()
	require.NoError(t, chantest.Receive(t, watching))
}

func TestABuildThatIsCancelledLeavesTheUsersFlagsToTheNextOne(t *testing.T) {
	t.Setenv("GOFLAGS", "-ldflags=-X=main.word=two")
	_, s := module(t)
	write(t, filepath.Join(s.Dir, "main.go"),
		"package main\n\nvar word = \"one\"\n\nfunc main() { println(word) }\n")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStale)
	require.ErrorIs(t, s.Build(ctx), errStale)
	require.NoError(t, s.Build(t.Context()))
	require.Equal(t, "two", says(t, s), "the flags of the user replace those of pipedeck")
}

func TestAGoCommandThatCannotNameItsFlagsIsReported(t *testing.T) {
	t.Setenv("GOFLAGS", "no-flag")
	_, s := module(t)
	var broken *CompileError
	require.ErrorAs(t, s.Build(t.Context()), &broken)
	require.Contains(t, broken.Output, "GOFLAGS")
	t.Setenv("GOFLAGS", "")
	require.NoError(t, s.Build(t.Context()), "the next build asks again")
}

// cgoOf is the setting that a program was built with.
func cgoOf(t *testing.T, program string) string {
	t.Helper()
	info, err := buildinfo.ReadFile(program)
	require.NoError(t, err)
	for _, setting := range info.Settings {
		if setting.Key == "CGO_ENABLED" {
			return setting.Key + "=" + setting.Value
		}
	}
	return "none"
}

func TestTheStatusSaysFromTheSaveOnThatAProgramIsBuilt(t *testing.T) {
	t.Parallel()
	root, s := module(t)
	ctx, cancel := context.WithCancel(t.Context())
	ends, watching := make(chan error, 100), make(chan error, 1)
	go func() { watching <- s.Run(ctx, func() {}, func(_ time.Duration, err error) { ends <- err }) }()
	require.NoError(t, chantest.Receive(t, ends))
	write(t, filepath.Join(root, "words", "words.go"), "package words\n\nconst First = \"two\"\n")
	require.Eventually(t, func() bool {
		return config.ReadBuildStatus(s.Program).State == config.BuildRunning
	}, wait, 5*time.Millisecond)
	require.NoError(t, chantest.Receive(t, ends))
	require.Eventually(t, func() bool {
		return config.ReadBuildStatus(s.Program).State == config.BuildDone && says(t, s) == "two"
	}, wait, 5*time.Millisecond)
	cancel()
	require.NoError(t, <-watching)
}

func TestSourcesThatWereAwayAreBuiltAgainWhenTheyAreBack(t *testing.T) {
	t.Parallel()
	_, s := module(t)
	ctx, cancel := context.WithCancel(t.Context())
	ends, ended := make(chan error, 100), make(chan error, 1)
	go func() { ended <- s.Run(ctx, func() {}, func(_ time.Duration, err error) { ends <- err }) }()
	defer func() { cancel(); require.NoError(t, <-ended) }()
	require.NoError(t, chantest.Receive(t, ends))

	away := s.Dir + ".away"
	require.NoError(t, os.Rename(s.Dir, away))
	require.ErrorIs(t, chantest.Receive(t, ends), os.ErrNotExist)
	require.NoError(t, os.Rename(away, s.Dir))
	for chantest.Receive(t, ends) != nil { // the end of a build that began while they were away may come first
	}
	write(t, filepath.Join(s.Dir, "main.go"), "package main\n\nfunc main() { println(\"back\") }\n")
	for says(t, s) != "back" {
		require.NoError(t, chantest.Receive(t, ends))
	}
}

func TestAFileThatIsNotAProgramIsReported(t *testing.T) {
	t.Parallel()
	root, s := module(t)
	s.Dir = filepath.Join(root, "words")
	var broken *CompileError
	require.ErrorAs(t, s.Build(t.Context()), &broken)
	require.ErrorContains(t, broken, "requires exactly one main package")
	require.NoFileExists(t, s.Program)
}

func TestFilesThatNoProgramIsMadeOfAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a_test.go", ".a.go.swp", "a.go~", "4913"} {
		require.False(t, matters(event(name)), name)
	}
	for _, name := range []string{"a.go", "go.mod", "page.html"} {
		require.True(t, matters(event(name)), name)
	}
}

func event(name string) fsnotify.Event { return fsnotify.Event{Name: "/x/" + name, Op: fsnotify.Write} }

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package gobuild_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/gobuild"
)

// module writes a module of two programs that share a package, which no cache holds.
func module(t *testing.T) gobuild.Build {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":           "module example.com/" + uuid.NewString() + "\n\ngo 1.24\n",
		"shared/shared.go": "package shared\n\nconst Word = \"hello\"\n",
		"one/main.go":      "package main\n\nimport \"MODULE/shared\"\n\nfunc main() { println(shared.Word) }\n",
		"two/main.go":      "package main\n\nimport \"MODULE/shared\"\n\nfunc main() { println(shared.Word, 2) }\n",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	name := strings.TrimPrefix(strings.SplitN(string(mod), "\n", 2)[0], "module ")
	for _, program := range []string{"one", "two"} {
		path := filepath.Join(dir, program, "main.go")
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(content), "MODULE", name)), 0o600))
	}
	return gobuild.Build{
		Dir: dir, Environ: []string{"GOWORK=off", "GOFLAGS=-buildvcs=false"}, Flags: []string{"-trimpath"},
		Output: filepath.Join(dir, "bin") + "/", Packages: []string{"./one", "./two"},
	}
}

func TestABuildSaysHowFarItIsAndMakesAllPrograms(t *testing.T) {
	t.Parallel()
	build := module(t)
	// Another go command that uses the same cache could compile a package between the count and the compilation.
	build.Environ = append(build.Environ, "GOCACHE="+t.TempDir())
	var said []string
	progress := func(detail string, done, total int64) {
		said = append(said, fmt.Sprint(detail, " ", done, "/", total))
	}
	require.NoError(t, build.Run(t.Context(), progress))
	require.Equal(t, "looking what has to be compiled 0/0", said[0])
	last := said[len(said)-1]
	require.True(t, strings.HasPrefix(last, "compiling, on first use only "), last)
	var done, total int
	_, err := fmt.Sscanf(strings.TrimPrefix(last, "compiling, on first use only "), "%d/%d", &done, &total)
	require.NoError(t, err)
	require.GreaterOrEqual(t, total, 3, "at least those of the module")
	require.Equal(t, total, done)
	out, err := exec.Command(filepath.Join(build.Dir, "bin", "two")).CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "hello 2\n", string(out))

	said = nil
	require.NoError(t, build.Run(t.Context(), progress))
	require.Equal(t, []string{"looking what has to be compiled 0/0"}, said, "nothing is left to compile")
}

func TestAPackageThatDoesNotCompileIsReportedInTheCompilersWords(t *testing.T) {
	t.Parallel()
	build := module(t)
	require.NoError(t, os.WriteFile(filepath.Join(build.Dir, "shared", "shared.go"),
		[]byte("package shared\n\nconst Word = 1 +\n"), 0o600))
	err := build.Run(t.Context(), func(string, int64, int64) {})
	require.ErrorContains(t, err, "shared.go:")
	require.NoFileExists(t, filepath.Join(build.Dir, "bin", "one"))
}

func TestABuildEndsWithItsContext(t *testing.T) {
	t.Parallel()
	build := module(t)
	over := errors.New("the environment ends")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := build.Run(ctx, func(detail string, _, _ int64) { cancel(over) })
	require.ErrorIs(t, err, over)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster/embedded/trim"
)

const sources = "../../../embeddedk8s"

// The fakes of all typed clients take a tenth of the time to compile the program.
func TestTheEmbeddedKubernetesIsCompiledWithoutFakes(t *testing.T) {
	t.Parallel()
	modfile, err := trim.Cached(t.Context(), sources, t.TempDir())
	require.NoError(t, err)
	list := func(arguments ...string) string {
		cmd := exec.Command("go", append(append([]string{"list", "-deps"}, arguments...), ".")...)
		cmd.Dir = sources
		cmd.Env = append(os.Environ(), "GOWORK=off")
		out, err := cmd.Output()
		require.NoError(t, err)
		return string(out)
	}
	const fake = "k8s.io/client-go/kubernetes/fake\n"
	require.Contains(t, list(), fake, "nothing has to be left out any more")
	trimmed := list("-modfile=" + modfile)
	require.NotContains(t, trimmed, fake)
	require.Contains(t, trimmed, "k8s.io/apiserver/pkg/server\n")
	require.Less(t, strings.Count(trimmed, "\n"), strings.Count(list(), "\n"))
}

// A queue with metrics wakes the process up twice a second, for as long as it is there.
func TestTheEmbeddedKubernetesCountsNoWorkOfItsQueues(t *testing.T) {
	t.Parallel()
	modfile, err := trim.Cached(t.Context(), sources, t.TempDir())
	require.NoError(t, err)
	const metrics = "k8s.io/component-base/metrics/prometheus/workqueue"
	list := func(arguments ...string) string {
		cmd := exec.Command("go", append(append([]string{"list"}, arguments...), "-f", "{{.Imports}}", metrics)...)
		cmd.Dir = sources
		cmd.Env = append(os.Environ(), "GOWORK=off")
		out, err := cmd.Output()
		require.NoError(t, err)
		return strings.TrimSpace(string(out))
	}
	require.Contains(t, list(), "k8s.io/client-go/util/workqueue", "another package provides the metrics")
	require.Equal(t, "[]", list("-modfile="+modfile))
}

// A package that two programs compile with different flags is compiled twice.
func TestNoOtherProgramHasThePackagesThatAreCompiledWithoutInlining(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-deps", "./cmd/...", "./plugins/...")
	cmd.Dir = "../../../.."
	out, err := cmd.Output()
	require.NoError(t, err)
	others := "\n" + string(out)
	require.Contains(t, others, "\nk8s.io/client-go/dynamic\n")
	for _, flag := range trim.Flags() {
		path, _, found := strings.Cut(strings.TrimPrefix(flag, "-gcflags="), "/...=")
		require.True(t, found, flag)
		require.NotContains(t, others, "\n"+path, "a package of another program")
	}
}

func TestTrimmedModulesAreWrittenOnceForEachGoMod(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	modfile, err := trim.Cached(t.Context(), sources, dir)
	require.NoError(t, err)
	written, err := os.Stat(modfile)
	require.NoError(t, err)
	again, err := trim.Cached(t.Context(), sources, dir)
	require.NoError(t, err)
	require.Equal(t, modfile, again)
	later, err := os.Stat(again)
	require.NoError(t, err)
	require.Equal(t, written.ModTime(), later.ModTime())

	// An interruption leaves no go.mod, which is written last.
	require.NoError(t, os.Remove(modfile))
	_, err = trim.Cached(t.Context(), sources, dir)
	require.NoError(t, err)
	require.FileExists(t, modfile)
	server := filepath.Join(filepath.Dir(modfile), "k8s.io", "apiserver", "pkg", "server")
	require.FileExists(t, filepath.Join(server, "config.go"))
	require.NoFileExists(t, filepath.Join(server, "config_test.go"))
}

func TestAModuleThatTheProgramDoesNotNeedIsNotCopied(t *testing.T) {
	t.Parallel()
	source, dir := t.TempDir(), filepath.Join(t.TempDir(), "copies")
	content := "module example.com/small\n\ngo 1.26\n"
	require.NoError(t, os.WriteFile(filepath.Join(source, "go.mod"), []byte(content), 0o600))
	trimmed, err := trim.Module(t.Context(), source, dir, "copies", []string{"GOWORK=off"})
	require.NoError(t, err)
	require.Equal(t, content, string(trimmed))
	require.NoDirExists(t, dir)
}

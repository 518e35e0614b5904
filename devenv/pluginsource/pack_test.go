// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginsource

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
)

// packedFrom packs the plugin of a directory, with a module of a package manager and files that stay.
func packedFrom(t *testing.T, s *Source) []byte {
	t.Helper()
	for name, content := range map[string]string{
		"node_modules/words/second": "two\n", ".venv/words": "three\n", ".git/config": "secret\n", ".env": "secret\n",
	} {
		write(t, filepath.Join(s.Dir, name), content)
	}
	write(t, filepath.Join(s.Dir, "run.sh"),
		`echo $(cat out/text node_modules/words/second .venv/words link; ls -A; pwd -P) "$*"`+"\n")
	if _, err := os.Lstat(filepath.Join(s.Dir, "link")); err != nil {
		require.NoError(t, os.Symlink("words/first", filepath.Join(s.Dir, "link")))
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(s.Program), 0o700))
	require.NoError(t, Pack(t.Context(), s.Dir, s.Program))
	program, err := os.ReadFile(s.Program)
	require.NoError(t, err)
	return program
}

func TestAPackedPluginRunsWithoutItsDirectory(t *testing.T) {
	t.Parallel()
	s := scripted(t)
	first := packedFrom(t, s)
	require.Equal(t, string(first), string(packedFrom(t, s)), "the same files are the same program")
	require.NoError(t, os.RemoveAll(s.Dir))

	cache := t.TempDir()
	var running sync.WaitGroup
	said := make([]string, 8)
	for i := range said { // as when piped starts a plugin for several applications at once
		running.Go(func() {
			cmd := exec.CommandContext(t.Context(), s.Program, "start", "--config", "{}")
			cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache)
			out, err := cmd.CombinedOutput()
			said[i] = string(out)
			if err != nil {
				said[i] += err.Error()
			}
		})
	}
	running.Wait()
	unpacked, err := filepath.Glob(filepath.Join(cache, "piped", "unpacked", "*"))
	require.NoError(t, err)
	require.Len(t, unpacked, 2, "a link and its directory: nothing is left of copies that came too late")
	dir, err := filepath.EvalSymlinks(unpacked[0])
	require.NoError(t, err)
	for _, one := range said {
		require.Equal(t, "one two three one .venv link node_modules out run.sh words "+dir+
			" it's start --config {}\n", one)
	}
	require.NoError(t, os.RemoveAll(dir)) // by someone who cleans caches
	cmd := exec.CommandContext(t.Context(), s.Program)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestAPackedPluginThatIsDamagedSaysSo(t *testing.T) {
	t.Parallel()
	s := scripted(t)
	program := packedFrom(t, s)
	require.NoError(t, os.WriteFile(s.Program, program[:len(program)-40], 0o700))
	cache := t.TempDir()
	cmd := exec.CommandContext(t.Context(), s.Program)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.NotContains(t, string(out), "start")
	unpacked, err := os.ReadDir(filepath.Join(cache, "piped", "unpacked"))
	require.NoError(t, err)
	require.Empty(t, unpacked, "half a plugin is not taken for a whole one")
}

func TestADirectoryWithoutARecipeIsNotPacked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.ErrorIs(t, Pack(t.Context(), dir, filepath.Join(t.TempDir(), "program")), ErrNoRecipe)
	write(t, filepath.Join(dir, config.KindPluginFile), "build: [sh, -c, exit 3]\nrun: [sh]\nwatch: [\"*\"]\n")
	err := Pack(t.Context(), dir, filepath.Join(t.TempDir(), "program"))
	require.ErrorContains(t, err, "does not compile")
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A copy is known by its name, and its size is as it should be; only its content says that it is not the plugin.
func TestACopyThatIsNotTheBinaryIsReplacedBeforeItRuns(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, path string){
		"one bit is flipped": func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			data[len(data)/2] ^= 1
			require.NoError(t, os.WriteFile(path, data, 0o700))
		},
		"it is cut off": func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 3)) },
		"it leads elsewhere": func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Symlink("/bin/sh", path))
		},
		"it leads to the same content, which another may change": func(t *testing.T, path string) {
			other := filepath.Join(t.TempDir(), "other")
			require.NoError(t, os.Rename(path, other))
			require.NoError(t, os.Symlink(other, path))
		},
		"others may change it":  func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o777)) },
		"it cannot be executed": func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o600)) },
		"it is gone":            func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
		"an empty directory": func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Mkdir(path, 0o700))
		},
		"its times are preserved": func(t *testing.T, path string) {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, []byte("exploit"), 0o700))
			require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		},
	} {
		for _, remembered := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				start := func() *binaries { return &binaries{dir: dir, logger: slog.New(slog.DiscardHandler)} }
				source := filepath.Join(t.TempDir(), "plugin")
				require.NoError(t, os.WriteFile(source, []byte("content"), 0o700))
				p := start()
				first, err := p.local("p", source)
				require.NoError(t, err)
				if remembered {
					now, found := identify(source)
					require.True(t, found)
					copied, found := identify(first.path)
					require.True(t, found)
					p.scanned.Store(&scanned{identity: now, binary: first, copied: copied}) // as after a while
				} else {
					p = start()
				}
				spoil(t, first.path)
				again, err := p.local("p", source)
				require.NoError(t, err)
				require.Equal(t, first, again)
				info, err := os.Lstat(again.path)
				require.NoError(t, err)
				require.True(t, info.Mode().IsRegular())
				require.Zero(t, info.Mode().Perm()&0o022)
				data, err := os.ReadFile(again.path)
				require.NoError(t, err)
				require.Equal(t, "content", string(data))
			})
		}
	}
}

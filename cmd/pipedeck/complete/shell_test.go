// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package complete_test

import (
	"context"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The drivers press the key of completion: each gets command lines as arguments, and prints for each a line "> LINE"
// and what the shell offers.
var (
	//go:embed testdata/bash.sh
	bashDriver string
	//go:embed testdata/zsh.sh
	zshDriver string
	//go:embed testdata/fish.fish
	fishDriver string
)

// shell is a shell under test.
type shell struct{ name, driver, flag string }

var shells = []shell{{"bash", bashDriver, "-c"}, {"zsh", zshDriver, "-c"}, {"fish", fishDriver, "-c"}}

// complete returns what the shell offers for each command line of a user in a directory.
func (s shell) complete(t *testing.T, dir string, environ []string, lines ...string) map[string]string {
	t.Helper()
	path, err := exec.LookPath(s.name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			require.NoError(t, err, "install the Debian packages zsh, fish and bash-completion")
		}
		t.Skip("there is no " + s.name)
	}
	home := t.TempDir()
	args := []string{s.flag, s.driver}
	if s.name != "fish" {
		args = append(args, s.name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(args, lines...)...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = append([]string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "TERM=xterm",
		"XDG_DATA_HOME=" + filepath.Join(home, ".local/share"), "LANG=C.UTF-8",
		"PATH=" + bin() + ":" + os.Getenv("PATH"),
	}, environ...)
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	require.NoError(t, err, "%s\n%s", out, &errOut)
	offered := map[string]string{}
	line := ""
	for text := range strings.Lines(string(out)) {
		if begun, ok := strings.CutPrefix(text, "> "); ok {
			line = strings.TrimSuffix(begun, "\n")
			offered[line] = ""
			continue
		}
		offered[line] += text
	}
	for _, asked := range lines {
		require.Contains(t, offered, asked, "%s\n%s", out, &errOut)
	}
	return offered
}

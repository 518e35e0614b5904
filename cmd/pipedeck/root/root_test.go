// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package root

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/defaults"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

// run runs a command line of a user with defaults.
func run(t *testing.T, from defaults.Source, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = RunWith(t.Context(), from, args, &out, &errOut)
	return code, out.String(), errOut.String()
}

func TestDefaultsNameTheEnvironmentAndHintsNameItAgain(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	from := defaults.Source{Environ: []string{"PIPEDECK_STATE_DIR=" + stateDir, "PIPEDECK_NAME=mine"}}
	code, _, stderr := run(t, from, "status")
	require.Equal(t, exit.NotStarted, code)
	require.Contains(t, stderr, `no environment "mine" is running`)
	require.Contains(t, stderr, " --name mine --state-dir "+stateDir)
	_, _, stderr = run(t, from, "status", "--name", "default")
	require.Contains(t, stderr, " --name default ", "without it, the command would be about mine")
	code, _, stderr = run(t, from, "down", "--all")
	require.Zero(t, code, "a default does not count as given: %s", stderr)
	_, help, _ := run(t, from, "status", "--help")
	require.Contains(t, help, `(default "mine")`)
}

func TestAMistakeInTheConfigurationFileIsWrongUsage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte("up:\n  clustr: kind\n"), 0o600))
	code, stdout, stderr := run(t, defaults.Source{File: path}, "status")
	require.Equal(t, exit.WrongUsage, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "pipedeck: "+path+`:2:3: up: there is no flag "clustr"; did you mean cluster?`+
		"\nnext step: ")
	for _, args := range []string{
		"help", "version", "--version", "completion bash", "__complete up --cl", "up --help",
	} {
		code, _, stderr := run(t, defaults.Source{File: path}, strings.Split(args, " ")...)
		require.Zero(t, code, "%s: %s", args, stderr)
	}
}

func TestEachShellHasAScriptAndAHelpThatSaysHowToInstallIt(t *testing.T) {
	t.Parallel()
	for shell, want := range map[string]string{
		"bash": "complete -o default -F __start_pipedeck pipedeck", "zsh": "compdef _pipedeck pipedeck",
		"fish": "complete -c pipedeck", "powershell": "Register-ArgumentCompleter -CommandName 'pipedeck'",
	} {
		_, script, _ := run(t, defaults.Source{}, "completion", shell)
		require.Contains(t, script, want)
		_, help, _ := run(t, defaults.Source{}, "completion", shell, "--help")
		require.Contains(t, help, "pipedeck completion "+shell+" ")
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/story"
)

// withInput runs a command with a text on standard input.
func withInput(t *testing.T, cmd *cobra.Command, input string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	root := &cobra.Command{Use: "pipedeck", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(cmd)
	root.SetArgs(append([]string{cmd.Name()}, args...))
	root.SetIn(strings.NewReader(input))
	root.SetOut(&out)
	root.SetErr(&errOut)
	err = root.ExecuteContext(t.Context())
	return out.String(), errOut.String(), err
}

func TestValidateChecksSeveralPathsTogetherAndEachFileOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"a", "b"} {
		file := filepath.Join(dir, name, "app.pipecd.yaml")
		require.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(clitest.GoodApplication), 0o600))
		files = append(files, file)
	}
	code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", files[0], files[1], dir)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "checked 2 files: ")
	require.Contains(t, stdout, `"web"`, "both have one name")
	code, _, stderr = command(t.Context(), t.TempDir(), "validate", files[0], filepath.Join(dir, "none"))
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "none: no such file or directory")
}

func TestStoriesAreCheckedNextToConfigurations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tour, err := story.Source("tour")
	require.NoError(t, err)
	for name, content := range map[string]string{"app.pipecd.yaml": clitest.GoodApplication, "tour.yaml": string(tour),
		"other.yaml": "apiVersion: v1\nkind: ConfigMap\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", dir)
	require.Zero(t, code, stderr)
	require.Equal(t, "checked 2 files: 0 errors, 0 warnings\n", stdout)
	wrong := filepath.Join(dir, "wrong.yaml")
	require.NoError(t, os.WriteFile(wrong, []byte("apiVersion: pipedeck.dev/v1\nkind: Story\ntitel: x\n"), 0o600))
	code, stdout, _ = command(t.Context(), t.TempDir(), "validate", dir)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stdout, wrong+":3:1: error: titel: ")
	require.Contains(t, stdout, "checked 3 files: ")
	flow := `{"kind": "Story", "title": "x", "sample": "dag", "plugin": "wait", "steps": [{"say": "x"}],
"apiVersion": "pipedeck.dev/v1"}`
	require.NoError(t, os.WriteFile(wrong, []byte(flow), 0o600))
	code, stdout, _ = command(t.Context(), t.TempDir(), "validate", wrong)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stdout, wrong+":1:60: error: plugin: wait is the name of a plugin of PipeCD")
	code, stdout, stderr = command(t.Context(), t.TempDir(), "validate", filepath.Join(dir, "tour.yaml"),
		filepath.Join(dir, "app.pipecd.yaml"))
	require.Zero(t, code, stdout+stderr)
	code, stdout, stderr = command(t.Context(), t.TempDir(), "migrate", dir)
	require.Zero(t, code, stdout+stderr)
	require.NotContains(t, stdout+stderr, "tour.yaml", "a story is no configuration of PipeCD")
}

func TestStandardInputIsCheckedAndMigrated(t *testing.T) {
	t.Parallel()
	stdout, _, err := withInput(t, newValidateCommand(), clitest.GoodApplication, "-")
	require.NoError(t, err)
	require.Equal(t, "checked 1 file: 0 errors, 0 warnings\n", stdout)
	stdout, _, err = withInput(t, newValidateCommand(), clitest.GoodApplication+"  nme: x\n", "-")
	require.Error(t, err, "an unknown key")
	require.Contains(t, stdout, "<stdin>:6:3: error: spec.nme: ")
	_, _, err = withInput(t, newValidateCommand(), "", "-")
	require.Error(t, err, "nothing is no configuration")

	stdout, _, err = withInput(t, newMigrateCommand(), oldApplication, "-")
	require.NoError(t, err)
	require.Contains(t, stdout, "kind: Application\n")
	require.Contains(t, stdout, "# ours")
	require.NotContains(t, stdout, "KubernetesApp")
	_, _, err = withInput(t, newMigrateCommand(), oldApplication, "-", "--write")
	require.ErrorContains(t, err, "without --write")
	stdout, stderr, err := withInput(t, newMigrateCommand(), "kind: [", "-")
	require.Error(t, err)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "<stdin>")
}

func TestValidateChecksAFileWithDefaultsThatIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte("up:\n  clustr: kind\nvalidate: {strikt: true}\nnone: {}\n"), 0o600))
	code, stdout, _ := command(t.Context(), t.TempDir(), "validate", path)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stdout, path+`:2:3: error: up: there is no flag "clustr"; did you mean cluster?`)
	require.Contains(t, stdout, path+`:3:12: error: validate: there is no flag "strikt"; did you mean strict?`)
	require.Contains(t, stdout, path+`:4:1: error: there is no command "none"`)
	require.Contains(t, stdout, "checked 1 file: 3 errors")

	require.NoError(t, os.WriteFile(path, []byte("up: {cluster: kind}\nall: {name: mine}\n"), 0o600))
	code, stdout, _ = command(t.Context(), t.TempDir(), "validate", path)
	require.Zero(t, code, stdout)
}

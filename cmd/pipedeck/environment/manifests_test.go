// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestOnlyTheEditedManifestIsCommitted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	run("init", "-q", "-b", "main")
	run("config", "user.name", "ada")
	run("config", "user.email", "ada@example.com")
	write("web/app.pipecd.yaml", "a: 1\n")
	file := write("web/deployment.yaml", "replicas: 1\n")
	write("other.txt", "one\n")
	run("add", "-A")
	run("commit", "-q", "-m", "start")

	m := manifests{}
	e := &deckv1.Environment{Repository: dir, Branch: "main"}
	a := &deckv1.Application{Name: "web", Path: "web", ConfigFilename: "app.pipecd.yaml"}
	found, err := m.Find(e, a)
	require.NoError(t, err)
	require.Equal(t, file, found)
	diff, err := m.Diff(t.Context(), file)
	require.NoError(t, err)
	require.Empty(t, diff)

	write("other.txt", "two\n")
	run("add", "other.txt")
	write("web/deployment.yaml", "replicas: 3\n")
	diff, err = m.Diff(t.Context(), file)
	require.NoError(t, err)
	require.Contains(t, diff, "-replicas: 1\n+replicas: 3\n")
	require.NoError(t, m.Commit(t.Context(), file, "Edit deployment.yaml of web"))
	require.Equal(t, "Edit deployment.yaml of web\n\nweb/deployment.yaml\n",
		run("show", "--format=%s", "--name-only", "HEAD"))
	require.Equal(t, "M  other.txt\n", run("status", "--short"), "what was staged stays")
	require.ErrorContains(t, m.Commit(t.Context(), file, "again"), "git commit")

	require.NoError(t, os.Remove(file))
	found, err = m.Find(e, a)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "web/app.pipecd.yaml"), found, "without a manifest, the configuration")

	require.NoError(t, os.Symlink("/etc", filepath.Join(dir, "out")))
	_, err = m.Find(e, &deckv1.Application{Path: "out", ConfigFilename: "passwd"})
	require.Error(t, err, "outside of the repository")
	_, err = m.Find(e, &deckv1.Application{Path: "../..", ConfigFilename: "x"})
	require.Error(t, err)

	run("checkout", "-q", "-f", "-b", "try")
	_, err = m.Find(e, a)
	require.ErrorContains(t, err, "the working tree is at try; check out main")
}

func TestMistakesOfAnEditedFileAreFoundBeforeItIsCommitted(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n  plugins: {scriptrun: {}}\n"
	for name, c := range map[string]struct {
		file, content string
		want          []string
	}{
		"a good manifest": {"deployment.yaml", "kind: Deployment\n---\nkind: Service\n", nil},
		"a broken mapping": {"deployment.yaml", "kind: Deployment\nmetadata: name: web\n",
			[]string{"deployment.yaml:2: "}},
		"a second document": {"deployment.yaml", "kind: A\n---\nkind: B\nspec: [1, 2\nx: y\n",
			[]string{"deployment.yaml:"}},
		"a key that stands twice": {"service.yml", "kind: A\nspec:\n  a: 1\n  a: 2\n", []string{"service.yml:4: "}},
		"a template":              {"secret.yaml", "password: {{ .encryptedSecrets.password }}\n", nil},
		"another file":            {"main.go", "package: main: x\n", nil},
		"a good configuration":    {"app.pipecd.yaml", head, nil},
		"a misspelt key": {"app.pipecd.yaml", head + "  pipelin: {}\n",
			[]string{"app.pipecd.yaml:6:3: spec.pipelin: "}},
		"a misspelt option": {"app.pipecd.yaml", head + "  pipeline:\n    stages:\n    - name: SCRIPT_RUN\n" +
			"      with: {rum: x}\n", []string{"app.pipecd.yaml:9:"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), c.file)
			require.NoError(t, os.WriteFile(file, []byte(c.content), 0o644))
			found := manifests{}.Check(t.Context(), file)
			if c.want == nil {
				require.Empty(t, found)
				return
			}
			require.NotEmpty(t, found)
			for i, want := range c.want {
				require.Contains(t, found[i], want)
			}
		})
	}
}

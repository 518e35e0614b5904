// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ownpiped

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/gittest"
)

const header = "apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n"

var around = Surroundings{
	Bundled: []string{"kubernetes", "wait", "scriptrun"}, Clusters: []string{"local"},
	OnClusters: []string{"kubernetes"},
}

// readSpec reads a file with this spec in the directory dir.
func readSpec(t *testing.T, dir, spec string, around Surroundings) (*Config, error) {
	t.Helper()
	path := filepath.Join(dir, "piped.yaml")
	require.NoError(t, os.WriteFile(path, []byte(header+spec), 0o600))
	return Read(path, around)
}

func newRepository(t *testing.T, dir string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "app.pipecd.yaml"), []byte("{}\n"), 0o600))
	gittest.Run(t, dir, "add", ".")
	gittest.Run(t, dir, "commit", "-qm", "first")
	return dir
}

func TestEachKeyOfAPipedConfigurationIsTakenOverOrNamed(t *testing.T) {
	t.Parallel()
	var known []string
	for _, o := range owned {
		known = append(known, o.key)
	}
	known = append(known, taken...)
	spec := reflect.TypeFor[config.Piped]()
	for i := range spec.NumField() {
		name, _, _ := strings.Cut(spec.Field(i).Tag.Get("json"), ",")
		if name == "-" || name == "" {
			continue
		}
		require.Contains(t, known, name, "say whether environments take it over")
		known = slices.DeleteFunc(known, func(k string) bool { return k == name })
	}
	require.Empty(t, known, "no configuration has these")
}

func TestRelativePathsBeginAtTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	newRepository(t, filepath.Join(dir, "50%25 more"))
	for _, name := range []string{"key", "hosts", "token", "signature", "private", "public"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	c, err := readSpec(t, dir, `  git: {sshKeyFile: key, knownHostsFile: ./hosts, sshConfigFilePath: made.later}
  pluginIndex: index.yaml
  repositories:
    - {repoId: a, remote: "50%25 more", branch: main}
    - {repoId: b, remote: git@example.com:b.git, branch: main, git: {sshKeyFile: key}}
  notifications:
    receivers:
      - {name: s, slack: {oauthTokenFile: token, channelID: C}}
      - {name: w, webhook: {url: "http://127.0.0.1:1", signatureValueFile: signature}}
  secretManagement: {type: KEY_PAIR, config: {privateKeyFile: private, publicKeyFile: public}}
`, around)
	require.NoError(t, err)
	spec, local, warnings := c.NextTo(&workspace.Repository{Root: dir, Branch: "main"})
	require.Empty(t, append(warnings, c.Warnings()...))
	in := func(name string) string { return filepath.Join(dir, name) }
	require.Equal(t, in("key"), mapping(spec, "git")["sshKeyFile"])
	require.Equal(t, in("hosts"), mapping(spec, "git")["knownHostsFile"])
	require.Equal(t, in("made.later"), mapping(spec, "git")["sshConfigFilePath"])
	require.Equal(t, in("index.yaml"), spec["pluginIndex"])
	repositories := list(spec, "repositories")
	require.Equal(t, "file://"+dir+"/50%2525 more", repositories[0]["remote"], "a piped reads the escapes of a URL")
	require.Equal(t, "git@example.com:b.git", repositories[1]["remote"])
	require.Equal(t, in("key"), mapping(repositories[1], "git")["sshKeyFile"])
	receivers := list(mapping(spec, "notifications"), "receivers")
	require.Equal(t, in("token"), mapping(receivers[0], "slack")["oauthTokenFile"])
	require.Equal(t, in("signature"), mapping(receivers[1], "webhook")["signatureValueFile"])
	require.Equal(t, in("private"), c.Piped.SecretManagement.Config.PrivateKeyFile)
	require.Equal(t, in("public"), mapping(mapping(spec, "secretManagement"), "config")["publicKeyFile"])
	require.Len(t, local, 1)
	require.Equal(t, []string{"app.pipecd.yaml"}, local[0].Applications)
	require.Equal(t, dir, c.Dir)
}

func TestTheWatchedRepositoryIsNotWatchedTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := newRepository(t, filepath.Join(dir, "clone"))
	c, err := readSpec(t, dir, `  repositories:
    - {repoId: here, remote: ./clone, branch: main}
    - {repoId: origin, remote: "https://user:token@example.com/team/apps.git", branch: main}
    - {repoId: other, remote: git@example.com:team/others.git, branch: main}
  eventWatcher: {gitRepos: [{repoId: origin, commitMessage: Set it}, {repoId: here, commitMessage: Set that}]}
`, around)
	require.NoError(t, err)
	spec, local, warnings := c.NextTo(&workspace.Repository{Root: root, Branch: "main",
		Origin: "git@example.com:team/apps"})
	require.Empty(t, local)
	require.Len(t, warnings, 2)
	require.Contains(t, warnings[1], "piped.yaml:6:7: spec.repositories[1]: not taken over: it is the repository that")
	require.NotContains(t, warnings[1], "token")
	require.Len(t, list(spec, "repositories"), 1)
	require.Equal(t, []map[string]any{{"repoId": "local", "commitMessage": "Set it"}},
		list(mapping(spec, "eventWatcher"), "gitRepos"), "piped refuses an id that is there twice")

	_, local, _ = c.NextTo(&workspace.Repository{Root: root, Branch: workspace.DetachedBranch, Detached: true})
	require.Empty(t, local, "a pull request is checked out")

	spec, local, warnings = c.NextTo(&workspace.Repository{Root: root, Branch: "topic"})
	require.Empty(t, warnings, "another branch")
	require.Len(t, local, 1)
	require.Len(t, list(spec, "repositories"), 3)
	require.Equal(t, "origin", list(mapping(spec, "eventWatcher"), "gitRepos")[0]["repoId"], "nothing has changed it")
}

func TestPluginsAreMergedWithThoseOfTheEnvironment(t *testing.T) {
	t.Parallel()
	c, err := readSpec(t, t.TempDir(), `  plugins:
    - {name: wait, config: {more: 12345678901234567890}, limits: {memory: 1Gi}, port: 9000}
    - {name: kubernetes, deployTargets: [{name: far, config: {kubeConfigPath: far.yaml}}]}
    - {name: theirs, url: "https://example.com/theirs", sha256: `+strings.Repeat("a", 64)+`}
    - {name: given, url: "https://example.com/given", sha256: `+strings.Repeat("b", 64)+`, config: {a: 1}}
    - {name: analysis, config: {analysisProviders: []}}
`, Surroundings{Bundled: append(slices.Clone(around.Bundled), "analysis"), Given: []string{"given"},
		Clusters:   around.Clusters,
		OnClusters: around.OnClusters})
	require.NoError(t, err)
	demanded := func(name string) (workspace.Plugin, bool) {
		return workspace.Plugin{Name: name, URL: "file:///" + name}, name == "analysis"
	}
	plugins, err := c.Plugins([]workspace.Plugin{
		{Name: "kubernetes", URL: "file:///kubernetes", Kubernetes: true},
		{Name: "wait", URL: "file:///wait", Config: map[string]any{"allowSkip": true}},
		{Name: "given", URL: "file:///given", Config: map[string]any{"b": 2}},
	}, demanded, []string{"given"})
	require.NoError(t, err)
	require.Len(t, plugins, 5)
	require.Equal(t, workspace.Plugin{Name: "analysis", URL: "file:///analysis",
		Config: map[string]any{"analysisProviders": []any{}}}, plugins[4], "one that is started on demand")
	require.True(t, plugins[0].Kubernetes, "the cluster stays a deploy target")
	require.Equal(t, "far", plugins[0].DeployTargets[0].Name)
	require.Equal(t, true, plugins[1].Config["allowSkip"])
	require.EqualValues(t, "12345678901234567890", plugins[1].Config["more"])
	require.Equal(t, "1Gi", plugins[1].Limits.Memory)
	require.Equal(t, map[string]any{"b": 2}, plugins[2].Config, "--plugin-config counts alone")
	require.Empty(t, plugins[2].SHA256, "it is that of another program")
	require.Equal(t, workspace.Plugin{Name: "theirs", URL: "https://example.com/theirs",
		SHA256: strings.Repeat("a", 64)}, plugins[3])
	said := strings.Join(c.Warnings(), "\n")
	for _, warning := range []string{
		"spec.plugins[0].port: not taken over",
		`deployTargets[0].name: applications may deploy to "far", which is outside`,
		"spec.plugins[3].url: not taken over: --plugin given is used", "spec.plugins[3].sha256: not taken over",
	} {
		require.Contains(t, said, warning)
	}
}

func TestAForeignPipedDoesNotGetKeysOfPipedeck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "identity"), []byte("x"), 0o600))
	const spec = `  git: {username: me, knownHostsFile: identity}
  repositories: [{repoId: a, remote: git@example.com:a.git, branch: main, git: {password: eA==}}]
  plugins: [{name: theirs, url: "https://example.com/p", stages: [S], limits: {cpu: 1}}]
  notifications: {receivers: [{name: w, webhook: {url: "http://127.0.0.1:1"}, template: hello}]}
  secretManagement: {type: AGE, config: {identityFile: identity}}
`
	foreign := around
	foreign.Foreign = true
	c, err := readSpec(t, dir, spec, foreign)
	require.NoError(t, err)
	merged, _, _ := c.NextTo(&workspace.Repository{Root: dir})
	require.Equal(t, map[string]any{"username": "me"}, merged["git"])
	require.NotContains(t, list(merged, "repositories")[0], "git")
	require.NotContains(t, list(mapping(merged, "notifications"), "receivers")[0], "template")
	require.NotContains(t, merged, "secretManagement")
	require.Nil(t, c.Piped.Plugins[0].Stages)
	require.Len(t, c.Warnings(), 6, "%v", c.Warnings())

	c, err = readSpec(t, dir, spec, around)
	require.NoError(t, err)
	require.Empty(t, c.Warnings(), "ours knows all of it")

	_, err = readSpec(t, dir, "  pluginIndex: index.yaml\n  plugins: [{name: canary, url: canary@v1}]\n", foreign)
	require.ErrorContains(t, err, "spec.plugins[0].url: is a name in a plugin index")
}

func TestWhatCannotBeMergedIsAMistakeAtItsPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ spec, says string }{
		"an id of the environment": {"  repositories: [{repoId: local, remote: /r, branch: main}]\n",
			":4:27: spec.repositories[0].repoId: \"local\" is the repository of the environment"},
		"another program of a bundled plugin": {"  plugins: [{name: wait, url: \"https://example.com/wait\"}]\n",
			":4:31: spec.plugins[0].url: the plugin wait comes with pipedeck"},
		"a plugin without a program": {"  plugins: [{name: mine}]\n", "spec.plugins[0].url: is required"},
		"a target like the cluster": {"  plugins: [{name: kubernetes, deployTargets: [{name: local}]}]\n",
			`:4:55: spec.plugins[0].deployTargets[0].name: "local" is the cluster of the environment`},
		"an unknown key":      {"  notifcations: {}\n", `did you mean "notifications"?`},
		"a misspelled owned":  {"  projectId: x\n", `did you mean "projectID"?`},
		"another kind of key": {"  git: {sshKeyFile: absent}\n", "absent does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readSpec(t, t.TempDir(), c.spec, around)
			require.ErrorContains(t, err, c.says)
			mistakes := config.Errors(nil)
			require.ErrorAs(t, err, &mistakes)
		})
	}
	for name, content := range map[string]string{
		"an empty file": "", "no spec": strings.TrimSuffix(header, "spec:\n"),
		"an application": "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec: {name: a}\n",
	} {
		path := filepath.Join(t.TempDir(), "piped.yaml")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := Read(path, around)
		require.Error(t, err, name)
	}
	path := filepath.Join(t.TempDir(), "piped.yaml")
	require.NoError(t, os.WriteFile(path, []byte(header), 0o600))
	c, err := Read(path, around)
	require.NoError(t, err, "a spec without keys asks for nothing")
	require.Empty(t, c.Warnings())
}

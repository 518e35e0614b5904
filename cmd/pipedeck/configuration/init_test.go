// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/system/filetest"
	"github.com/pipedeck/pipedeck/system/gittest"
	"github.com/pipedeck/pipedeck/tui/document"
)

const someDeployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"

// ownRepository is a repository without application configurations.
func ownRepository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filetest.Write(t, filepath.Join(t.TempDir(), "shop"), files)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	return dir
}

func TestInitShowsAPatchThatGitTakesAndWritesNothing(t *testing.T) {
	t.Parallel()
	dir := ownRepository(t, map[string]string{"k8s/web.yaml": someDeployment, "api/d.yaml": someDeployment})
	code, stdout, stderr := command(t.Context(), t.TempDir(), "init", dir, "--pipeline", "canary")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout,
		"k8s/app.pipecd.yaml: shop: 1 plain manifest: Deployment web\n  1 object: 1 Deployment\n")
	require.Contains(t, stdout, "+      - name: K8S_CANARY_ROLLOUT\n")
	require.Contains(t, stderr, "2 files would be written in "+dir+"; to do it, run: pipedeck init "+dir+
		" --pipeline canary --write\n")
	require.NoFileExists(t, filepath.Join(dir, "k8s", "app.pipecd.yaml"))
	patch := filepath.Join(t.TempDir(), "patch")
	require.NoError(t, os.WriteFile(patch, []byte(stdout), 0o600))
	gittest.Run(t, dir, "apply", patch)
	code, stdout, stderr = command(t.Context(), t.TempDir(), "validate", dir)
	require.Zero(t, code, stdout+stderr)
	require.Contains(t, stdout, "checked 2 files: 0 errors, 0 warnings")
}

func TestInitWritesFilesOnceAndValidateAcceptsThem(t *testing.T) {
	t.Parallel()
	dir := ownRepository(t, map[string]string{
		"k8s/web.yaml": someDeployment, "charts/web/Chart.yaml": "name: web\nversion: 1.0.0\n", "a.tf": "",
	})
	code, stdout, stderr := command(t.Context(), t.TempDir(), "init", filepath.Join(dir, "k8s"), "--write")
	require.Zero(t, code, stderr)
	require.Equal(t, "wrote k8s/app.pipecd.yaml: shop: 1 plain manifest: Deployment web\n  1 object: 1 Deployment\n",
		stdout)
	require.NotContains(t, stderr, "Terraform", "it is not in the folder")
	file := filepath.Join(dir, "k8s", "app.pipecd.yaml")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o133, "no one but the owner may change it, and no one run it")
	before, err := os.ReadFile(file)
	require.NoError(t, err)

	code, stdout, stderr = command(t.Context(), t.TempDir(), "init", dir, "--write")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout,
		"wrote charts/web/app.pipecd.yaml: web: a Helm chart\n  cannot be rendered: no manifests")
	require.Contains(t, stderr, "left out: .: Terraform is not supported yet\n")
	require.Contains(t, stderr, "k8s/app.pipecd.yaml exists already; wrote 1 file in "+dir)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))

	code, stdout, stderr = command(t.Context(), t.TempDir(), "validate", dir)
	require.Zero(t, code, stdout+stderr)
	code, stdout, stderr = command(t.Context(), t.TempDir(), "init", dir, "--write")
	require.Zero(t, code, stderr)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "2 application configurations exist already; nothing to write\n")
}

func TestInitFollowsNoLinkWhenItWrites(t *testing.T) {
	t.Parallel()
	dir, outside := ownRepository(t, map[string]string{"k8s/web.yaml": someDeployment}), t.TempDir()
	file := filepath.Join(outside, "new")
	require.NoError(t, os.Symlink(file, filepath.Join(dir, "k8s", "app.pipecd.yaml")))
	code, _, stderr := command(t.Context(), t.TempDir(), "init", dir, "--write")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "k8s/app.pipecd.yaml: it exists, and is left as it is\n")
	require.Contains(t, stderr, "next step: ")
	require.NoFileExists(t, file)
}

func TestInitIsJSONForMachines(t *testing.T) {
	t.Parallel()
	dir := ownRepository(t, map[string]string{
		"k8s/web.yaml": someDeployment, "bad/x.yaml": "apiVersion: v1\nkind: [\n", "tests/x.yaml": someDeployment,
	})
	code, stdout, _ := command(t.Context(), t.TempDir(), "init", dir, "-o", "json")
	require.Equal(t, exit.WrongUsage, code, "there is a mistake")
	var found document.Initialization
	clitest.Document(t, "initialization", stdout, &found)
	require.Equal(t, dir, found.Repository)
	require.Len(t, found.Applications, 1)
	require.Equal(t, "shop", found.Applications[0].Name)
	require.Equal(t, "manifests", found.Applications[0].Source)
	require.Contains(t, found.Applications[0].Content, "name: shop\n")
	require.False(t, found.Applications[0].Written)
	require.Equal(t, []document.LeftOutPath{{Path: "tests", Reason: "manifests for tests"}}, found.LeftOut)
	require.Len(t, found.Problems, 1)
	require.Equal(t, "bad/x.yaml", found.Problems[0].File)
	for _, list := range []string{"applications", "existing", "left_out", "problems", "notes"} {
		require.NotContains(t, stdout, `"`+list+`":null`)
	}
}

func TestInitSaysWhatItLookedFor(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"not a repository": {[]string{outside}, []string{"is not in a Git repository", "git -C " + outside + " init"}},
		"no directory":     {[]string{"/no/such"}, []string{"/no/such is not a directory"}},
		"no such pipeline": {[]string{outside, "--pipeline", "red"}, []string{`"red" is unknown`,
			"quick, canary, bluegreen"}},
		"nothing": {[]string{ownRepository(t, map[string]string{"infra/main.tf": "", "README.md": ""})},
			[]string{"holds nothing to deploy: looked for manifests", "kustomization.yaml and Chart.yaml",
				"left out: infra (Terraform is not supported yet)"}},
		"an empty repository": {[]string{ownRepository(t, nil)}, []string{"holds nothing to deploy"}},
		"a mistake": {[]string{ownRepository(t, map[string]string{"k8s/x.yaml": "apiVersion: v1\nkind: X\na: [\n"})},
			[]string{"k8s/x.yaml:3: ", "nothing to write", "1 mistake in files that would be deployed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := command(t.Context(), t.TempDir(), append([]string{"init"}, c.args...)...)
			require.Equal(t, exit.WrongUsage, code, stderr)
			require.Empty(t, stdout)
			for _, text := range append(c.says, "next step: ") {
				require.Contains(t, stderr, text)
			}
		})
	}
}

func TestInitShowsNoEscapeSequencesOfARepository(t *testing.T) {
	t.Parallel()
	dir := ownRepository(t, map[string]string{
		"k\x1b[31m8s/web.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: \"w\\e[31m\"}\n",
		"b\x1bd/x.yaml":        "apiVersion: v1\nkind: [\n",
	})
	_, stdout, stderr := command(t.Context(), t.TempDir(), "init", dir)
	require.False(t, strings.ContainsRune(stdout+stderr, '\x1b'), "%q", stdout+stderr)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestPluginsOfAnIndexAreListedAndInstalledByName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const digest = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
	here := runtime.GOOS + "/" + runtime.GOARCH
	require.NoError(t, os.WriteFile(filepath.Join(dir, "canary"), []byte("content"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "index.yaml"), []byte(fmt.Sprintf(`plugins:
  canary:
    description: Deploys in steps
    versions:
      v1.0.0: {%s: {url: canary, sha256: %s}}
      v1.1.0: {%s: {url: canary, sha256: %s}, plan9/mips: {url: other, sha256: %s}}
  elsewhere:
    versions: {v1.0.0: {plan9/mips: {url: other, sha256: %s}}}
`, here, digest, here, digest, digest, digest)), 0o600))
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	at := server.URL + "/index.yaml"
	plugin := func(args ...string) (int, string, string) {
		return command(t.Context(), t.TempDir(), append([]string{"plugin"},
			append(args, "--index", at, "--work-dir", filepath.Join(dir, "work"))...)...)
	}

	code, stdout, stderr := plugin("list")
	require.Zero(t, code, stderr)
	require.Regexp(t, `canary +v1\.1\.0 +yes +v1\.1\.0 v1\.0\.0 +Deploys in steps`, stdout)
	require.Regexp(t, `elsewhere +v1\.0\.0 +- +v1\.0\.0`, stdout)
	code, stdout, stderr = plugin("info", "canary@1.1.0")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "canary: Deploys in steps")
	require.Regexp(t, `canary@v1\.1\.0 +plan9/mips +`+digest+` +other`, stdout)
	require.NotContains(t, stdout, "v1.0.0")
	code, stdout, stderr = plugin("list", "-o", "json")
	require.Zero(t, code, stderr)
	var listed document.PluginIndex
	clitest.Document(t, "plugin-index", stdout, &listed)
	require.Equal(t, "canary", listed.Plugins[0].Name)
	require.Equal(t, "v1.1.0", listed.Plugins[0].Versions[0].Version)
	_, stdout, _ = plugin("list", "-o", "name", "--no-headers")
	require.Equal(t, "canary\nelsewhere\n", stdout)

	code, stdout, stderr = plugin("install", "canary@v1.0.0", "-o", "json")
	require.Zero(t, code, stderr)
	var all document.Binaries
	clitest.Document(t, "plugin-binaries", stdout, &all)
	require.Equal(t, "downloaded", all.Plugins[0].State)
	require.Equal(t, "v1.0.0", all.Plugins[0].Version)
	require.Equal(t, digest, all.Plugins[0].SHA256)

	for _, c := range []struct {
		code int
		args []string
		says string
	}{
		{exit.Failed, []string{"install", "elsewhere"},
			"elsewhere@v1.0.0 is not there for " + here + ", only for: plan9/mips"},
		{exit.Failed, []string{"install", "cannary"}, "did you mean canary?"},
		{exit.WrongUsage, []string{"info", "canary@v7"},
			"the index has no version v7 of canary (it has: v1.1.0, v1.0.0)"},
		{exit.WrongUsage, []string{"install"}, "no plugin of the index is named"},
		{exit.WrongUsage, []string{"install", "https://example.com/p"}, "write it as NAME or NAME@VERSION"},
	} {
		code, stdout, stderr := plugin(c.args...)
		require.Equal(t, c.code, code, c.says)
		require.Contains(t, stdout+stderr, c.says)
	}
	code, _, stderr = command(t.Context(), t.TempDir(), "plugin", "list", "--index", "/no/such/index")
	require.Equal(t, exit.Failed, code)
	require.Contains(t, stderr, "next step: correct the path of the plugin index")
}

func TestAPipedConfigurationNamesPluginsOfAnIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const digest = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "canary"), []byte("content"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "index.yaml"), []byte(fmt.Sprintf(
		"plugins: {canary: {versions: {v1.0.0: {%s/%s: {url: canary, sha256: %s}}}}}", runtime.GOOS, runtime.GOARCH,
		digest)), 0o600))
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	plugins, work := fmt.Sprintf("    - {name: p, url: canary, port: 0}\n  pluginIndex: %s/index.yaml\n",
		server.URL), t.TempDir()

	code, found, stderr := binaries(t, work, plugins, "list")
	require.Zero(t, code, stderr)
	require.Equal(t, "missing", found["p"].State)
	require.Contains(t, found["p"].Warning, "the plugin index is not here: run pipedeck plugin install p")
	code, found, stderr = binaries(t, work, plugins, "install")
	require.Zero(t, code, stderr)
	require.Equal(t, "downloaded", found["p"].State)
	require.True(t, found["p"].Pinned)
	require.Equal(t, server.URL+"/canary", found["p"].URL)
	server.Close()
	for _, subcommand := range []string{"info", "verify", "list"} {
		code, found, stderr = binaries(t, work, plugins, subcommand)
		require.Zero(t, code, stderr)
		require.Equal(t, "fetched", found["p"].State)
		require.Equal(t, "canary", found["p"].Reference)
		require.Equal(t, "v1.0.0", found["p"].Version)
	}
	code, found, _ = binaries(t, work, plugins, "install")
	require.Zero(t, code)
	require.Contains(t, found["p"].Warning, "the plugin index is as it was fetched before")
}

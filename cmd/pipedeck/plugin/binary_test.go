// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aead.dev/minisign"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/document"
)

// binaries runs a plugin command on a piped configuration with these plugins.
func binaries(t *testing.T, work, plugins, subcommand string, args ...string) (code int, found map[string]pluginBinary,
	stderr string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "piped.yaml")
	text := "apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n  projectID: p\n  pipedID: i\n" +
		"  pipedKeyData: eA==\n  apiAddress: a:1\n  plugins:\n" + plugins
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	args = append([]string{"plugin", subcommand, "--config-file", file, "--work-dir", work, "-o", "json"}, args...)
	code, stdout, stderr := command(t.Context(), t.TempDir(), args...)
	if code == exit.WrongUsage {
		return code, nil, stderr
	}
	var all document.Binaries
	clitest.Document(t, "plugin-binaries", stdout, &all)
	found = map[string]pluginBinary{}
	for _, b := range all.Plugins {
		found[b.Name] = pluginBinary{b}
	}
	return code, found, stderr
}

func TestPluginsAreInstalledAndVerified(t *testing.T) {
	t.Parallel()
	key, private, err := minisign.GenerateKey(nil)
	require.NoError(t, err)
	reader := minisign.NewReader(strings.NewReader("content"))
	_, err = io.Copy(io.Discard, reader)
	require.NoError(t, err)
	signature := reader.SignWithComments(private, "my-plugin v1", "x")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".minisig") {
			_, _ = w.Write(signature)
			return
		}
		_, _ = io.Copy(w, bytes.NewReader([]byte("content")))
	}))
	defer server.Close()
	local := filepath.Join(t.TempDir(), "local")
	require.NoError(t, os.WriteFile(local, []byte("content"), 0o700))
	const digest = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
	plugins := fmt.Sprintf(`    - {name: remote, url: "%s/p?token=secret", port: 0, signature: {publicKey: %s}}
    - {name: local, url: "file://%s", port: 0, sha256: %s}
`, server.URL, key, local, digest)
	work := t.TempDir()

	code, found, stderr := binaries(t, work, plugins, "verify")
	require.Equal(t, exit.Failed, code)
	require.Contains(t, found["remote"].Problem, "run pipedeck plugin install remote")
	require.Contains(t, stderr, "1 plugin cannot be used")

	code, found, stderr = binaries(t, work, plugins, "install")
	require.Zero(t, code, stderr)
	require.Equal(t, "downloaded", found["remote"].State)
	require.Equal(t, digest, found["remote"].SHA256)
	require.True(t, found["remote"].Signed)
	require.Equal(t, "my-plugin v1", found["remote"].Comment)
	require.Equal(t, "local", found["local"].State)
	require.True(t, found["local"].Pinned)
	require.NotContains(t, fmt.Sprint(found)+stderr, "secret")

	server.Close()
	for subcommand, state := range map[string]string{"verify": "fetched", "list": "fetched", "install": "stale"} {
		code, found, stderr = binaries(t, work, plugins, subcommand)
		require.Zero(t, code, stderr)
		require.Equal(t, state, found["remote"].State, subcommand)
	}

	require.NoError(t, os.WriteFile(local, []byte("other"), 0o700))
	code, found, _ = binaries(t, work, plugins, "verify", "local")
	require.Equal(t, exit.Failed, code)
	require.Contains(t, found["local"].Problem, digest)
	require.NotContains(t, found, "remote")

	var info bytes.Buffer
	b := found["local"]
	require.NoError(t, printBinaries(&info, []pluginBinary{b}, nil))
	for _, fact := range []string{b.Name, b.URL, b.SHA256, b.Path} {
		require.Contains(t, info.String(), "   "+fact+"\n")
	}
	code, found, stderr = binaries(t, work, plugins, "info", "remote")
	require.Zero(t, code, stderr)
	require.Equal(t, key.String(), found["remote"].SignedBy)
	require.Equal(t, server.URL+"/p.minisig?…", found["remote"].SignatureURL)

	code, _, stderr = binaries(t, work, plugins, "list", "absent")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, `is named "absent"`)
}

func TestPluginIsPushedAndInstalledByItsDigest(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("content"), 0o700))
	url := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/plugin:v1"
	code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "push", url, "--file",
		runtime.GOOS+"/"+runtime.GOARCH+"="+program)
	require.Zero(t, code, stderr)
	pinned := strings.TrimSpace(stdout)
	require.True(t, strings.HasPrefix(pinned, url+"@sha256:"), pinned)
	code, stdout, stderr = command(t.Context(), t.TempDir(), "plugin", "push", url, "-o", "json", "--file",
		runtime.GOOS+"/"+runtime.GOARCH+"="+program)
	require.Zero(t, code, stderr)
	var pushed document.Push
	clitest.Document(t, "plugin-push", stdout, &pushed)
	require.Equal(t, pinned, pushed.URL)

	code, found, stderr := binaries(t, t.TempDir(), `    - {name: p, url: "`+pinned+`", port: 0}`+"\n", "install")
	require.Zero(t, code, stderr)
	require.Equal(t, "downloaded", found["p"].State)
	require.True(t, found["p"].Pinned)

	for says, args := range map[string][]string{
		"--file linux/amd64=PATH": {url},
		"push to oci://":          {url, "--file", "linux/amd64=/no/such/file"},
	} {
		code, _, stderr = command(t.Context(), t.TempDir(), append([]string{"plugin", "push"}, args...)...)
		require.NotZero(t, code)
		require.Contains(t, stderr, says)
	}
}

func TestAPluginInADirectoryIsPushedAndInstalledAsAProgram(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "plugin")
	for name, content := range map[string]string{
		"piped-plugin.yaml": "run: [sh, main.sh]\nconfig: {token: secret}\n", "main.sh": "cat node_modules/words\n",
		"node_modules/words": "from a module",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	url := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/plugin:v1"
	code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "push", url, "--file",
		runtime.GOOS+"/"+runtime.GOARCH+"="+dir)
	require.Zero(t, code, stderr)
	code, found, stderr := binaries(t, t.TempDir(), `    - {name: p, url: "`+strings.TrimSpace(stdout)+`", port: 0}`+
		"\n", "install")
	require.Zero(t, code, stderr)
	require.NoError(t, os.RemoveAll(dir))
	cmd := exec.CommandContext(t.Context(), found["p"].Path)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "from a module", string(out))

	code, _, stderr = command(t.Context(), t.TempDir(), "plugin", "pack", t.TempDir(), filepath.Join(t.TempDir(), "x"))
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "next step: say in piped-plugin.yaml how the plugin is run")
}

// Not parallel: a process that another test starts meanwhile would hold the programs open for writing.
func TestInfoShowsTheVersionThatTheAuthorGave(t *testing.T) {
	dir := t.TempDir()
	entries := ""
	for name, script := range map[string]string{
		"greeter": "#!/bin/sh\n[ \"$1\" = version ] && echo v1.2.0\n", "other": "#!/bin/sh\nexit 1\n",
		"young": "#!/bin/sh\necho development\n",
	} {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(script), 0o700))
		entries += fmt.Sprintf("    - {name: %s, url: \"file://%s\", port: 0}\n", name, file)
	}
	code, found, stderr := binaries(t, t.TempDir(), entries, "info")
	require.Zero(t, code, stderr)
	require.Equal(t, "v1.2.0", found["greeter"].Version)
	require.Empty(t, found["other"].Version)
	require.Empty(t, found["young"].Version)
}

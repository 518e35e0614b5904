// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/signature"
	"github.com/pipedeck/pipedeck/tui/document"
)

// newSignKey creates a key without a password; its public half is returned as a text of YAML.
func newSignKey(t *testing.T, format string) (path, public string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "release.key")
	code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "sign", "--generate-key", "--no-password",
		"--key", path, "--format", format, "-o", "json")
	require.Zero(t, code, stderr)
	var made document.Signing
	clitest.Document(t, "plugin-signing", stdout, &made)
	text, err := json.Marshal(made.PublicKey)
	require.NoError(t, err)
	return path, string(text)
}

func TestSignedBinariesAreInstalledAndOthersAreNot(t *testing.T) {
	t.Parallel()
	for format, extension := range map[string]string{"minisign": ".minisig", "sigstore": ".sigstore.json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			key, public := newSignKey(t, format)
			info, err := os.Stat(key)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
			dir := t.TempDir()
			program := filepath.Join(dir, "my plugin")
			require.NoError(t, os.WriteFile(program, []byte("content"), 0o700))
			code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "sign", program, "--key", key,
				"--comment", "v1")
			require.Zero(t, code, stderr)
			require.Equal(t, program+extension+"\n", stdout)
			require.Contains(t, stderr, "signature:\n  publicKey: ")

			server := httptest.NewServer(http.FileServer(http.Dir(dir)))
			defer server.Close()
			plugins := fmt.Sprintf(`    - {name: p, url: "%s/my%%20plugin", port: 0, signature: {publicKey: %s}}`+"\n",
				server.URL, public)
			code, found, stderr := binaries(t, t.TempDir(), plugins, "install")
			require.Zero(t, code, stderr)
			require.True(t, found["p"].Signed)
			if format == "minisign" {
				require.Equal(t, "v1", found["p"].Comment)
			}

			require.NoError(t, os.WriteFile(program, []byte("exchanged"), 0o700))
			code, found, _ = binaries(t, t.TempDir(), plugins, "install")
			require.Equal(t, exit.Failed, code)
			require.Contains(t, found["p"].Problem, "the binary is not the one that was signed")
		})
	}
}

func TestBinariesInARegistryAreSignedThere(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)),
		registry.WithReferrersSupport(true)))
	defer server.Close()
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("content"), 0o700))
	here := runtime.GOOS + "/" + runtime.GOARCH
	url := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/plugin:v1"
	first, firstPublic := newSignKey(t, "minisign")
	second, secondPublic := newSignKey(t, "sigstore")
	code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "push", url, "--file", here+"="+program,
		"--sign-key", first)
	require.Zero(t, code, stderr)
	pinned := strings.TrimSpace(stdout)
	entry := func(public string) string {
		return fmt.Sprintf("    - {name: p, url: %q, port: 0, signature: {publicKey: %s}}\n", pinned, public)
	}
	code, found, stderr := binaries(t, t.TempDir(), entry(firstPublic), "install")
	require.Zero(t, code, stderr)
	require.True(t, found["p"].Signed)
	require.Equal(t, url, found["p"].Comment)

	work := t.TempDir()
	code, found, _ = binaries(t, work, entry(secondPublic), "install")
	require.Equal(t, exit.Failed, code)
	require.Contains(t, found["p"].Problem, "its registry has no signature of sigstore for it")
	for _, says := range []string{"signed " + here, "was signed before: " + here} {
		code, stdout, stderr = command(t.Context(), t.TempDir(), "plugin", "sign", pinned, "--key", second)
		require.Zero(t, code, stderr)
		require.Contains(t, stdout, says+" sha256:")
	}
	code, found, stderr = binaries(t, work, entry(secondPublic), "verify")
	require.Zero(t, code, stderr)
	require.True(t, found["p"].Signed)
}

// Not parallel, because it sets the environment.
func TestThePasswordOfAKeyComesFromTheEnvironment(t *testing.T) {
	t.Setenv(passwordVariable, "correct horse")
	key := filepath.Join(t.TempDir(), "release.key")
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("content"), 0o700))
	code, _, stderr := command(t.Context(), t.TempDir(), "plugin", "sign", program, "--generate-key", "--format",
		"sigstore", "--key", key)
	require.Zero(t, code, stderr)
	data, err := os.ReadFile(key)
	require.NoError(t, err)
	require.Contains(t, string(data), "ENCRYPTED SIGSTORE PRIVATE KEY")
	text, err := os.ReadFile(program + ".sigstore.json")
	require.NoError(t, err)
	public, err := os.ReadFile(key + ".pub")
	require.NoError(t, err)
	read, err := signature.ParsePublicKey(string(public))
	require.NoError(t, err)
	_, err = signature.Verify(program, text, read)
	require.NoError(t, err)

	t.Setenv(passwordVariable, "wrong")
	code, _, stderr = command(t.Context(), t.TempDir(), "plugin", "sign", program, "--key", key)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "cannot be decrypted")
	require.NotContains(t, stderr, "correct horse")

	t.Setenv(passwordVariable, "")
	code, _, stderr = command(t.Context(), t.TempDir(), "plugin", "sign", "--generate-key", "--key", key+"2")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "--no-password")
	require.NoError(t, os.Unsetenv(passwordVariable))
	code, _, stderr = command(t.Context(), t.TempDir(), "plugin", "sign", program, "--key", key)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "set "+passwordVariable)
}

func TestWhatIsWrongWithASignatureToMakeIsSaid(t *testing.T) {
	t.Parallel()
	key, _ := newSignKey(t, "minisign")
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("content"), 0o700))
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no key":                   {[]string{program}, "--key FILE"},
		"nothing to sign":          {[]string{"--key", key}, "there is nothing to sign"},
		"a key that is not there":  {[]string{program, "--key", key + "x"}, "no such file"},
		"a file that is no key":    {[]string{program, "--key", program}, "it holds no private key"},
		"a file that is not there": {[]string{program + "x", "--key", key}, "no such file"},
		"a directory":              {[]string{filepath.Dir(program), "--key", key}, "name the binary"},
		"an unknown format": {[]string{program, "--key", key, "--format", "pgp"},
			"use minisign or sigstore"},
		"a format of another key": {[]string{program, "--key", key, "--format", "sigstore"},
			"is a key of minisign"},
		"a key that would be replaced": {[]string{"--generate-key", "--no-password", "--key", key}, "already"},
		"a comment of two lines":       {[]string{program, "--key", key, "--comment", "a\nb"}, "more than one line"},
		"no password for an old key":   {[]string{program, "--key", key, "--no-password"}, "only for --generate-key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := command(t.Context(), t.TempDir(), append([]string{"plugin", "sign"}, c.args...)...)
			require.Equal(t, exit.WrongUsage, code)
			require.Contains(t, stderr, c.says)
			require.Contains(t, stderr, "next step: ")
			require.Empty(t, stdout)
		})
	}
	code, _, stderr := command(t.Context(), t.TempDir(), "plugin", "sign", "https://example.com/p", "--key", key)
	require.Equal(t, exit.Failed, code)
	require.Contains(t, stderr, "the url is not that of a registry")
}

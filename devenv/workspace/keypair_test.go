// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace_test

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
)

func TestTheKeyPairIsMadeOnceAndStaysPrivate(t *testing.T) {
	t.Parallel()
	w, err := workspace.At(t.TempDir(), "test")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	require.NoError(t, w.Keys().EnsureKeyPair())
	read := func(file string) string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		return string(text)
	}
	private, public := read(w.Keys().PrivateKeyFile()), read(w.Keys().PublicKeyFile())
	// PipeCD's piped reads no other form, and dies at its start.
	block, _ := pem.Decode([]byte(private))
	require.NotNil(t, block)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	require.NoError(t, err)
	require.IsType(t, &rsa.PrivateKey{}, key)

	require.NoError(t, os.Remove(w.Keys().PublicKeyFile()))
	require.NoError(t, w.Keys().EnsureKeyPair())
	require.Equal(t, private, read(w.Keys().PrivateKeyFile()))
	require.Equal(t, public, read(w.Keys().PublicKeyFile()))

	require.NoError(t, os.WriteFile(w.Keys().PrivateKeyFile(), []byte("gone"), 0o600))
	require.ErrorContains(t, w.Keys().EnsureKeyPair(), "encrypt the secrets of your applications again",
		"never replaced")

	repository := &workspace.Repository{Root: "/r", Branch: "main"}
	require.NoError(t, w.WritePipedConfig(workspace.PipedConfig{Address: "127.0.0.1:1", Repository: repository}))
	text, err := os.ReadFile(w.PipedConfig())
	require.NoError(t, err)
	piped, err := config.ParsePiped(text, w.PipedConfig())
	require.NoError(t, err)
	require.Equal(t, config.SecretsKeyPair, piped.SecretManagement.Type)
	require.Equal(t, w.Keys().PrivateKeyFile(), piped.SecretManagement.Config.PrivateKeyFile)
	require.Equal(t, w.Keys().PublicKeyFile(), piped.SecretManagement.Config.PublicKeyFile)
}

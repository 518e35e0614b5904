// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/secrets"
)

// keyFiles writes an RSA key pair and an age identity with its recipient into a directory.
func keyFiles(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	require.NoError(t, err)
	identity, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	for name, content := range map[string][]byte{
		"private": pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY",
			Bytes: x509.MarshalPKCS1PrivateKey(private)}),
		"public":    pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
		"identity":  []byte("# a comment\n" + identity.String() + "\n"),
		"recipient": []byte(identity.Recipient().String() + "\n"),
		"pair.yaml": []byte(pipedWith("{type: KEY_PAIR, config: {privateKeyFile: private, publicKeyFile: public}}")),
		"age.yaml":  []byte(pipedWith("{type: AGE, config: {identityFile: identity}}")),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	return dir
}

func pipedWith(secretManagement string) string {
	return "apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n  secretManagement: " + secretManagement + "\n"
}

func TestASecretIsEncryptedForAGivenKeyWithoutAnEnvironment(t *testing.T) {
	t.Parallel()
	dir := keyFiles(t)
	pair := &config.SecretManagement{Type: config.SecretsKeyPair, Config: config.SecretKeys{
		PrivateKeyFile: filepath.Join(dir, "private"), PublicKeyFile: filepath.Join(dir, "public")}}
	identity := &config.SecretManagement{Type: config.SecretsAge,
		Config: config.SecretKeys{IdentityFile: filepath.Join(dir, "identity")}}
	for name, c := range map[string]struct {
		recipient recipient
		keys      *config.SecretManagement
	}{
		"a public key":                          {recipient{key: filepath.Join(dir, "public")}, pair},
		"recipients of age":                     {recipient{key: filepath.Join(dir, "recipient")}, identity},
		"a piped configuration with a key pair": {recipient{pipedConfig: filepath.Join(dir, "pair.yaml")}, pair},
		"a piped configuration for age":         {recipient{pipedConfig: filepath.Join(dir, "age.yaml")}, identity},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			encrypt, done, err := c.recipient.choose(t.Context(), nil)
			require.NoError(t, err)
			defer done()
			ciphertext, err := encrypt(t.Context(), "open sesame")
			require.NoError(t, err)
			require.NotContains(t, ciphertext, "\n", "it is a line of YAML")
			decrypter, err := secrets.Open(c.keys)
			require.NoError(t, err)
			got, err := decrypter.Decrypt(ciphertext)
			require.NoError(t, err)
			require.Equal(t, "open sesame", got)
		})
	}
}

func TestAKeyThatEncryptsNothingIsRefusedWithoutShowingIt(t *testing.T) {
	t.Parallel()
	dir := keyFiles(t)
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	private, err := os.ReadFile(filepath.Join(dir, "private"))
	require.NoError(t, err)
	identity, err := os.ReadFile(filepath.Join(dir, "identity"))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"a private key": {[]string{"--key", filepath.Join(dir, "private")}, "openssl rsa -in"},
		"an identity":   {[]string{"--key", filepath.Join(dir, "identity")}, "age-keygen -y"},
		"no file":       {[]string{"--key", filepath.Join(dir, "absent")}, "does not exist"},
		"an empty file": {[]string{"--key", write("empty", "")}, "neither a public key in PEM form nor"},
		"text":          {[]string{"--key", write("text", "hello\n")}, "neither a public key in PEM form nor"},
		"a directory":   {[]string{"--key", dir}, "read the key"},
		"a large file":  {[]string{"--key", write("large", string(bytes.Repeat([]byte("x"), 1<<20)))}, "64 KiB"},
		"a certificate": {[]string{"--key", write("cert", "-----BEGIN CERTIFICATE-----\n"+
			"-----END CERTIFICATE-----\n")},
			"is not a public key"},
		"a key for a file": {[]string{"--piped-config", filepath.Join(dir, "identity")},
			"holds a key, not a configuration"},
		"both": {[]string{"--key", "a", "--piped-config", "b"}, "give only one of"},
		"no key in it": {[]string{"--piped-config", write("none.yaml", pipedWith("null"))},
			"has no spec.secretManagement"},
		"another file": {[]string{"--piped-config", filepath.Join(dir, "recipient")}, "the file holds no keys"},
		"a missing key": {[]string{"--piped-config", write("gone.yaml",
			pipedWith("{type: AGE, config: {identityFile: gone}}"))},
			"gone.yaml:4:56: spec.secretManagement.config.identityFile"},
		"a key elsewhere": {[]string{"--piped-config", write("kms.yaml",
			pipedWith("{type: GCP_KMS, config: {keyName: k}}"))},
			"use the type KEY_PAIR or AGE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t.Context(), Commands, t.TempDir(),
				append([]string{"encrypt", "password"}, c.args...)...)
			require.Equal(t, exit.WrongUsage, code, stderr)
			require.Contains(t, stderr, c.says)
			require.Contains(t, stderr, "next step: ")
			require.Empty(t, stdout)
			for _, key := range [][]byte{private, identity} {
				for _, line := range bytes.Split(key, []byte("\n"))[1:2] {
					require.NotContains(t, stderr, string(line))
				}
			}
		})
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package signature_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/signature"
)

func password(text string) func() (string, error) { return func() (string, error) { return text, nil } }

func TestPrivateKeysAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	for _, form := range signature.Forms() {
		key := newKey(t, form)
		file, err := key.File("")
		require.NoError(t, err)
		read, err := signature.ParsePrivateKey(
			file, func() (string, error) { return "", errors.New("no one asks for it") },
		)
		require.NoError(t, err)
		require.Equal(t, key.Public().String(), read.Public().String())
	}
}

// The files in testdata were made by minisign 0.11 and by cosign's libraries, sigstore-go 1.2.2 and sigstore 1.10.8.
func TestKeysAndSignaturesOfOtherToolsAreRead(t *testing.T) {
	t.Parallel()
	file := func(name string) []byte {
		data, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		return data
	}
	signed := binary(t, "the binary of a plugin\n")

	key, err := signature.ParsePrivateKey(file("minisign.key"), nil)
	require.NoError(t, err)
	comment, err := signature.Verify(signed, file("minisign.minisig"), key.Public())
	require.NoError(t, err)
	require.Equal(t, "made by minisign", comment)
	public, err := key.PublicFile()
	require.NoError(t, err)
	require.Contains(t, string(file("minisign.pub")), key.Public().String())
	require.Contains(t, string(public), key.Public().String())

	sealed, err := signature.ParsePrivateKey(file("cosign.key"), password("a password"))
	require.NoError(t, err)
	require.Equal(t, signature.Sigstore, sealed.Public().Form())
	other, err := signature.ParsePublicKey(string(file("sigstore.pub")))
	require.NoError(t, err)
	_, err = signature.Verify(signed, file("sigstore.json"), other)
	require.NoError(t, err)
	_, err = signature.Verify(signed, file("sigstore.json"), sealed.Public())
	require.ErrorContains(t, err, "if the signer has a new key")
}

func TestFilesThatAreNoKeyAreRefusedWithoutShowingThem(t *testing.T) {
	t.Parallel()
	large, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(large)
	require.NoError(t, err)
	in := func(kind, content string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte(content)}))
	}
	for text, says := range map[string]string{
		"": "it holds no private key", "topsecret": "it holds no private key",
		in("PRIVATE KEY", "topsecret"):                    "cannot be read",
		in("EC PRIVATE KEY", "topsecret"):                 "cannot be read",
		in("PRIVATE KEY", string(der)):                    "neither one of ECDSA on P-256",
		in("CERTIFICATE", "topsecret"):                    "which is no private key",
		in("ENCRYPTED SIGSTORE PRIVATE KEY", "topsecret"): "encrypted in an unknown way",
		in(
			"ENCRYPTED SIGSTORE PRIVATE KEY",
			`{"kdf":{"name":"scrypt","params":{"N":1073741824,"r":8,"p":1}},"cipher":{"name":"nacl/secretbox",`+
				`"nonce":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}`,
		): "asks for too much",
	} {
		_, err := signature.ParsePrivateKey([]byte(text), password("p"))
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), "topsecret")
	}
}

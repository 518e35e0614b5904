// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package signature

import (
	"errors"
	"os"
	"testing"

	"aead.dev/minisign"
	"github.com/stretchr/testify/require"
)

func FuzzParseBundle(f *testing.F) {
	f.Add(
		[]byte(
			`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json",` +
				`"verificationMaterial":{"publicKey":{"hint":"x"}},` +
				`"messageSignature":{"messageDigest":{"algorithm":"SHA2_256","digest":"AAAA"},"signature":"AAAA"}}`,
		),
	)
	f.Add(
		[]byte(
			`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json",` +
				`"verificationMaterial":{"certificate":{"rawBytes":"AAAA"}},"dsseEnvelope":{}}`,
		),
	)
	key, err := Generate(Sigstore)
	require.NoError(f, err)
	path := f.TempDir() + "/binary"
	require.NoError(f, os.WriteFile(path, []byte("binary"), 0o600))
	f.Fuzz(func(t *testing.T, data []byte) {
		if b, err := parseBundle(data); err == nil {
			require.NotEmpty(t, b.signature)
		}
		_, err := Verify(path, data, key.Public())
		require.Error(t, err, "no one has signed it")
	})
}

func FuzzParseMinisign(f *testing.F) {
	f.Add([]byte("untrusted comment: x\nRUQAAAAAAAAAAAA==\ntrusted comment: y\nAAAA\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := parseMinisign(data); err == nil {
			require.EqualValues(t, minisign.HashEdDSA, s.Algorithm)
		}
	})
}

func FuzzParseKeys(f *testing.F) {
	for _, form := range Forms() {
		key, err := Generate(form)
		require.NoError(f, err)
		file, err := key.File("")
		require.NoError(f, err)
		f.Add(file)
		f.Add([]byte(key.Public().String()))
	}
	asked := errors.New("asked for a password")
	f.Fuzz(func(t *testing.T, data []byte) {
		if key, err := ParsePrivateKey(data, func() (string, error) { return "", asked }); err == nil {
			_, err := ParsePublicKey(key.Public().String())
			require.NoError(t, err)
		}
		if key, err := ParsePublicKey(string(data)); err == nil {
			again, err := ParsePublicKey(key.String())
			require.NoError(t, err)
			require.Equal(t, key.String(), again.String())
		}
	})
}

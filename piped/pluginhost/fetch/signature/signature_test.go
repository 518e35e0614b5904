// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package signature_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/signature"
)

func binary(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "binary")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func newKey(t *testing.T, form signature.Form) *signature.PrivateKey {
	t.Helper()
	key, err := signature.Generate(form)
	require.NoError(t, err)
	return key
}

// keyOf reads a private key as a file has it.
func keyOf(t *testing.T, key any) *signature.PrivateKey {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	read, err := signature.ParsePrivateKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil)
	require.NoError(t, err)
	return read
}

func sign(t *testing.T, key *signature.PrivateKey, content, comment string) string {
	t.Helper()
	text, err := key.Sign(strings.NewReader(content), comment)
	require.NoError(t, err)
	return string(text)
}

func TestWhatAKeySignsItsPublicKeyChecks(t *testing.T) {
	t.Parallel()
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	for name, key := range map[string]*signature.PrivateKey{
		"minisign": newKey(t, signature.Minisign), "ECDSA": newKey(t, signature.Sigstore), "Ed25519": keyOf(t, edwards),
	} {
		public, err := signature.ParsePublicKey(key.Public().String())
		require.NoError(t, err, name)
		require.Equal(t, key.Public().Form(), public.Form())
		text := sign(t, key, "mine", "plugin v1")
		require.Equal(t, public.Form(), signature.FormOf([]byte(text)))
		comment, err := signature.Verify(binary(t, "mine"), []byte(text), public)
		require.NoError(t, err, name)
		if public.Form() == signature.Minisign {
			require.Equal(t, "plugin v1", comment)
		}
		_, err = signature.Verify(binary(t, "other"), []byte(text), public)
		require.ErrorContains(t, err, "the binary is not the one that was signed", name)
	}
}

func TestASignatureOfEd25519OverTheFileItselfIsRight(t *testing.T) {
	t.Parallel()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	public := keyOf(t, private).Public()
	text := fmt.Sprintf(
		`{"mediaType":"application/vnd.dev.sigstore.bundle+json;version=0.3","verificationMaterial":{"publicKey":{}},
		"messageSignature":{"signature":%q}}`,
		base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte("mine"))),
	)
	_, err = signature.Verify(binary(t, "mine"), []byte(text), public)
	require.NoError(t, err)
	_, err = signature.Verify(binary(t, "other"), []byte(text), public)
	require.ErrorContains(t, err, "another key, or the signature was changed")
}

func TestSignaturesThatProveNothingAreRefused(t *testing.T) {
	t.Parallel()
	mini, other, stranger := newKey(t, signature.Minisign), newKey(t, signature.Sigstore), newKey(t, signature.Minisign)
	key := newKey(t, signature.Sigstore)
	right := sign(t, key, "mine", "")
	changed := func(change func(bundle map[string]any)) string {
		var bundle map[string]any
		require.NoError(t, json.Unmarshal([]byte(right), &bundle))
		change(bundle)
		text, err := json.Marshal(bundle)
		require.NoError(t, err)
		return string(text)
	}
	material := func(with string) string {
		return changed(func(b map[string]any) { b["verificationMaterial"] = json.RawMessage(with) })
	}
	for name, c := range map[string]struct {
		text string
		key  *signature.PrivateKey
		says string
	}{
		"a bundle of another signer": {right, other, "write it to plugins[].signature.publicKey"},
		"minisign's of another signer": {
			sign(t, stranger, "mine", ""), mini, "write it to plugins[].signature.publicKey",
		},
		"a bundle for a key of minisign": {
			right, mini, "it is a signature of sigstore, and the key is one of minisign",
		},
		"minisign for a key of Sigstore": {
			sign(t, mini, "mine", ""), key, "it is a signature of minisign, and the key is one of sigstore",
		},
		"without a signature": {
			changed(func(b map[string]any) { b["messageSignature"] = map[string]any{} }), key, "has no signature",
		},
		"with another signature": {
			changed(func(b map[string]any) { b["messageSignature"] = map[string]any{"signature": "AAAA"} }), key,
			"the signature was changed",
		},
		"keyless": {
			material(`{"certificate":{"rawBytes":"AAAA"}}`), key, "made with a certificate (keyless)",
		},
		"keyless with a chain": {
			material(`{"x509CertificateChain":{"certificates":[{"rawBytes":"AAAA"}]}}`), key,
			"made with a certificate (keyless)",
		},
		"without a key": {material(`{}`), key, "names no key"},
		"an attestation": {changed(func(b map[string]any) {
			delete(b, "messageSignature")
			b["dsseEnvelope"] = map[string]any{"payload": "AAAA"}
		}), key, "signs an attestation"},
		"of another version": {
			changed(func(b map[string]any) { b["mediaType"] = "application/vnd.dev.sigstore.bundle+json;version=0.1" }),
			key, "--new-bundle-format",
		},
		"cosign's old bundle":          {`{"base64Signature":"AAAA"}`, key, "--new-bundle-format"},
		"a broken bundle":              {"{", key, "the bundle of Sigstore cannot be read"},
		"a bundle with two contents":   {right[:len(right)-1] + `,"dsseEnvelope":{}}`, key, "cannot be read"},
		"nonsense":                     {"x", mini, "the signature cannot be read"},
		"nothing":                      {"", mini, "the signature cannot be read"},
		"more than a signature can be": {strings.Repeat("x", signature.MaxSize+1), mini, "larger than 64 KiB"},
		"minisign's with another comment": {
			strings.Replace(sign(t, mini, "mine", "v1"), "comment: v1", "comment: v2", 1), mini,
			"the signature was changed",
		},
		"minisign's without its last line": {
			strings.SplitAfter(sign(t, mini, "mine", "v1"), "\n")[0], mini, "the signature cannot be read",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := signature.Verify(binary(t, "mine"), []byte(c.text), c.key.Public())
			require.ErrorContains(t, err, c.says)
			var failed *signature.Error
			require.ErrorAs(t, err, &failed)
			require.NotEmpty(t, failed.Step)
		})
	}
}

func TestKeysThatCannotCheckAreRefused(t *testing.T) {
	t.Parallel()
	large, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(large.Public())
	require.NoError(t, err)
	for text, says := range map[string]string{
		string(
			pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}),
		): "neither one of ECDSA on P-256 nor one of Ed25519",
		string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("x")})):  "cannot be read",
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})): "is no PUBLIC KEY in PEM",
		"-----BEGIN": "is no PUBLIC KEY in PEM",
		"RWabc":      "cannot be read",
		"":           "cannot be read",
	} {
		_, err := signature.ParsePublicKey(text)
		require.ErrorContains(t, err, says)
	}
}

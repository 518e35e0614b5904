// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhereAPluginsBinaryComesFromIsChecked(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("0a", 32)
	const key = "RWTHTBOH1xKOgV4CIGSd6efv0r8heNVILRfqAgo/HWP0BOFNxIev8Jwo"
	pemKey, large := publicKey(t, elliptic.P256()), publicKey(t, elliptic.P384())
	for plugin, want := range map[string]string{
		"url: file:///p":                                "",
		"url: oci://registry.example/p:v1":              "",
		"url: http://127.0.0.1:8000/p":                  "",
		"url: \"http://[::1]/p\"":                       "",
		"url: http://localhost/p":                       "",
		"url: https://example.com/p, sha256: " + digest: "",
		"url: canary@v1.2.0": "plugins[0].url: \"canary@v1.2.0\" is " +
			"the name of a plugin in an index, and there is none",
		"url: canary": "give spec.pluginIndex",
		"url: canary@": "plugins[0].url: \"canary@\" is not " +
			"allowed here",
		"url: http://example.com/p": "plugins[0].url: " +
			"\"http://example.com/p\" is not allowed here",
		"url: http://me:secret@example.com/p": "want file://, https:// or oci://",
		"url: https://example.com/p, sha256: abc": "plugins[0].sha256: \"abc\" is not a " +
			"SHA-256 digest",
		"url: https://example.com/p, sha256: sha256:" + digest:                          "want 64 digits",
		"url: https://example.com/p, sha256: " + strings.ToUpper(digest):                "want 64 digits",
		"url: https://example.com/p, signature: {publicKey: " + key + "}":               "",
		"url: https://example.com/p, signature: {publicKey: " + key + ", policy: warn}": "",
		"url: oci://example.com/p, signature: {policy: off}":                            "",
		"url: oci://example.com/p, signature: {publicKey: " + key + "}":                 "",
		"url: oci://example.com/p, signature: {publicKey: " + pemKey + "}":              "",
		"url: oci://example.com/p, signature: {publicKey: " + large +
			"}": "want the line of minisign's .pub file",
		"url: oci://example.com/p, signature: {publicKey: " + pemKey[:60] +
			"\"}": "want the line of minisign's .pub file",
		"url: oci://example.com/p, signature: {publicKey: " + key +
			", url: oci://e.com/s}": "want file:// or https://",
		"url: https://example.com/p, signature: {publicKey: RWabc}": "is not a public key: want",
		"url: https://example.com/p, signature: {policy: warn}":     "is not a public key: want",
		"url: https://example.com/p, signature: {policy: maybe, publicKey: " + key +
			"}": "want require or warn or off",
	} {
		text := fmt.Sprintf("apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n  projectID: p\n  pipedID: i\n"+
			"  pipedKeyData: eA==\n  apiAddress: a:1\n  plugins:\n    - {name: p, port: 0, %s}\n", plugin)
		_, err := ParsePiped([]byte(text), "piped.yaml")
		if want == "" {
			require.NoError(t, err, plugin)
			continue
		}
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret@")
	}
}

func TestThePluginIndexIsChecked(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"plugins/index.yaml": "", "/srv/index.yaml": "", "file:///srv/index.yaml": "",
		"https://example.com/index.yaml": "", "http://127.0.0.1:80/i": "",
		"http://example.com/i": "spec.pluginIndex: \"http://example.com/i\" is not allowed here: want file:// or " +
			"https://",
		"oci://example.com/i": "spec.pluginIndex",
	} {
		text := fmt.Sprintf("apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n  projectID: p\n  pipedID: i\n"+
			"  pipedKeyData: eA==\n  apiAddress: a:1\n  pluginIndex: %q\n  plugins:\n"+
			"    - {name: p, port: 0, url: canary@v1.2.0}\n", address)
		_, err := ParsePiped([]byte(text), "piped.yaml")
		if want == "" {
			require.NoError(t, err, address)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}

func TestSecretsInAddressesOfPluginsAreKnownAndHidden(t *testing.T) {
	t.Parallel()
	p := &Piped{PluginIndex: "https://me:first@example.com/index?token=second", Plugins: []Plugin{{
		URL: "canary", Signature: &PluginSignature{URL: "https://me:third@example.com/s?token=fourth"},
	}}}
	require.Subset(t, p.Secrets(), []string{"first", "third"})
	text, err := p.MaskedYAML()
	require.NoError(t, err)
	require.Contains(t, text, "https://")
	for _, secret := range []string{"first", "second", "third", "fourth"} {
		require.NotContains(t, text, secret)
	}
}

// publicKey is a key in PEM as a text of YAML.
func publicKey(t *testing.T, curve elliptic.Curve) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	require.NoError(t, err)
	text, err := json.Marshal(string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	require.NoError(t, err)
	return string(text)
}

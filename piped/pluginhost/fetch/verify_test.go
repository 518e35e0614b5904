// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch_test

import (
	"bytes"
	"net/http"
	"os"
	"strings"
	"testing"

	"aead.dev/minisign"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
)

func newKey(t *testing.T) (public string, private minisign.PrivateKey) {
	t.Helper()
	key, private, err := minisign.GenerateKey(nil)
	require.NoError(t, err)
	return key.String(), private
}

func sign(t *testing.T, key minisign.PrivateKey, content, comment string) string {
	t.Helper()
	reader := minisign.NewReader(bytes.NewReader([]byte(content)))
	_, err := new(bytes.Buffer).ReadFrom(reader)
	require.NoError(t, err)
	return string(reader.SignWithComments(key, comment, "anything"))
}

func TestSignaturesAreChecked(t *testing.T) {
	t.Parallel()
	public, private := newKey(t)
	otherPublic, other := newKey(t)
	right := sign(t, private, "mine", "plugin v1")
	for name, c := range map[string]struct {
		signature, key string
		says           string
	}{
		"right":             {right, public, ""},
		"of something else": {sign(t, private, "theirs", "plugin v1"), public, "not the one that was signed"},
		"of another signer": {
			sign(t, other, "mine", "plugin v1"), public, "write it to plugins[].signature.publicKey",
		},
		"another key is wanted": {right, otherPublic, "it is signed by the key"},
		"changed comment": {
			strings.Replace(right, "plugin v1", "plugin v2", 1), public, "the signature was changed",
		},
		"the old form": {string(minisign.Sign(private, []byte("mine"))), public, "minisign's old form"},
		"nonsense":     {"x", public, "cannot be read"},
		"missing":      {"", public, "sign the binary with: pipedeck plugin sign"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := program(t, "mine")
			if c.signature != "" {
				require.NoError(t, os.WriteFile(path+".minisig", []byte(c.signature), 0o600))
			}
			plugin := config.Plugin{
				Name: "p", URL: "file://" + path,
				Signature: &config.PluginSignature{PublicKey: c.key, Policy: config.SignatureRequire},
			}
			f := newFetcher(t.TempDir())
			v, err := f.Verify(t.Context(), plugin, path)
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				require.ErrorContains(t, err, "plugin \"p\": file://"+path+".minisig: ")
				require.Nil(t, v.Signed)

				plugin.Signature.Policy = config.SignatureWarn
				v, err = f.Verify(t.Context(), plugin, path)
				require.NoError(t, err)
				require.ErrorContains(t, v.Warning, c.says)
				plugin.Signature.Policy = config.SignatureOff
				v, err = f.Verify(t.Context(), plugin, path)
				require.NoError(t, err)
				require.NoError(t, v.Warning)
				return
			}
			require.NoError(t, err)
			require.NotNil(t, v.Signed)
		})
	}
}

func TestASignatureIsFetchedWithTheBinaryAndKept(t *testing.T) {
	t.Parallel()
	public, private := newKey(t)
	path := program(t, "mine")
	s := newSite(t, false, "")
	s.set(sign(t, private, "mine", "v1"), func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/plugin.minisig" && r.URL.RawQuery == "token=secret" {
			return false
		}
		w.WriteHeader(http.StatusNotFound)
		return true
	})
	plugin := config.Plugin{
		Name: "p", URL: s.URL + "/plugin?token=secret",
		Signature: &config.PluginSignature{PublicKey: public, Policy: config.SignatureRequire},
	}
	dir := t.TempDir()
	v, err := newFetcher(dir).Verify(t.Context(), plugin, path)
	require.NoError(t, err)
	require.Equal(t, "v1", *v.Signed)
	s.Close()
	_, err = newFetcher(dir).Verify(t.Context(), plugin, path)
	require.NoError(t, err, "it needs no server the next time")
	_, err = newFetcher(t.TempDir()).Verify(t.Context(), plugin, path)
	require.ErrorContains(t, err, "its signature cannot be had")
	require.NotContains(t, err.Error(), "secret")
	require.True(t, fetch.Passing(err))

	plugin.Signature.URL = newSite(t, false, strings.Repeat("x", 65<<10)).URL
	_, err = newFetcher(dir).Verify(t.Context(), plugin, path)
	require.ErrorContains(t, err, "larger than 64 KiB")
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/signature"
)

func signer(t *testing.T, form signature.Form) *fetch.Signer {
	t.Helper()
	key, err := signature.Generate(form)
	require.NoError(t, err)
	return &fetch.Signer{Key: key, Comment: "plugin v1"}
}

func signedBy(url string, s *fetch.Signer) config.Plugin {
	return config.Plugin{
		Name: "p", URL: url,
		Signature: &config.PluginSignature{PublicKey: s.Key.Public().String(), Policy: config.SignatureRequire},
	}
}

// install is what piped does before a start.
func install(t *testing.T, dir string, plugin config.Plugin) (fetch.Verified, error) {
	t.Helper()
	f := newFetcher(dir, noLogins(t))
	file, err := f.Fetch(t.Context(), fetch.Request{Plugin: plugin.Name, URL: plugin.URL, SHA256: plugin.SHA256})
	require.NoError(t, err)
	return f.Verify(t.Context(), plugin, file.Path)
}

func TestTheRegistryOfAPluginHasItsSignatures(t *testing.T) {
	t.Parallel()
	for name, api := range map[string]bool{"by the referrers API": true, "by the referrers tag": false} {
		for _, form := range signature.Forms() {
			t.Run(string(form)+" "+name, func(t *testing.T) {
				t.Parallel()
				server, address, asked := newRegistry(t, "", registry.WithReferrersSupport(api))
				url := address + "/team/plugin:v1"
				f := newFetcher(t.TempDir(), noLogins(t))
				pushed, err := f.Push(
					t.Context(), url, map[string]string{here: program(t, "mine"), "plan9/mips": program(t, "theirs")},
					nil,
				)
				require.NoError(t, err)
				first, second := signer(t, form), signer(t, form)
				_, err = install(t, t.TempDir(), signedBy(url, second))
				require.ErrorContains(t, err, "its registry has no signature of "+string(form))
				require.ErrorContains(t, err, "pipedeck plugin sign "+url+" --key FILE")

				for _, s := range []*fetch.Signer{first, second} {
					signed, err := f.Sign(t.Context(), url, s)
					require.NoError(t, err)
					require.Len(t, signed, 2)
					require.False(t, signed[0].Before)
				}
				signed, err := f.Sign(t.Context(), url, second)
				require.NoError(t, err)
				require.True(t, signed[0].Before && signed[1].Before, "a signature is not written twice")

				dir := t.TempDir()
				for _, s := range []*fetch.Signer{first, second} {
					_, err := install(t, dir, signedBy(url+"@"+pushed, s))
					require.NoError(t, err)
				}
				_, err = install(t, dir, signedBy(url, signer(t, form)))
				require.ErrorContains(t, err, "if the signer has a new key")

				server.Close()
				before := asked.Load()
				v, err := install(t, dir, signedBy(url+"@"+pushed, second))
				require.NoError(t, err, "what was right once needs no registry")
				require.NotNil(t, v.Signed)
				require.Equal(t, before, asked.Load())
			})
		}
	}
}

func TestPluginsAreSignedAsTheyArePushed(t *testing.T) {
	t.Parallel()
	_, address, _ := newRegistry(t, "", registry.WithReferrersSupport(true))
	url := address + "/plugin:v1"
	s := signer(t, signature.Sigstore)
	f := newFetcher(t.TempDir(), noLogins(t))
	_, err := f.Push(t.Context(), url, map[string]string{here: program(t, "mine")}, s)
	require.NoError(t, err)
	dir := t.TempDir()
	_, err = install(t, dir, signedBy(url, s))
	require.NoError(t, err)

	// The tag moves to a binary that no one has signed.
	_, err = f.Push(t.Context(), url, map[string]string{here: program(t, "other")}, nil)
	require.NoError(t, err)
	_, err = install(t, dir, signedBy(url, s))
	require.ErrorContains(t, err, "its registry has no signature of sigstore for it")
	pinned := signedBy(url, s)
	pinned.SHA256 = digest([]byte("mine"))
	_, err = install(t, dir, pinned)
	require.NoError(t, err, "the wanted one is here and signed still")
}

func TestOnlyPluginsInRegistriesAreSignedThere(t *testing.T) {
	t.Parallel()
	_, address, _ := newRegistry(t, "")
	f := newFetcher(t.TempDir(), noLogins(t))
	for url, says := range map[string]string{
		"https://example.com/p": "the url is not that of a registry",
		address + "/nothing:v1": "the registry has no such artifact",
	} {
		_, err := f.Sign(t.Context(), url, signer(t, signature.Minisign))
		require.ErrorContains(t, err, "sign "+url+": "+says)
	}
	_, err := f.Sign(
		t.Context(), strings.Replace(address, "oci://", "oci://me:secret@", 1)+"/p", signer(t, signature.Minisign),
	)
	require.ErrorContains(t, err, "cannot hold a password")
	require.NotContains(t, err.Error(), "secret")
}

// Anybody who may write to the registry can put something next to a plugin.
func TestOtherFilesNextToAPluginHideNoSignature(t *testing.T) {
	t.Parallel()
	server, address, _ := newRegistry(t, "", registry.WithReferrersSupport(true))
	url := address + "/plugin:v1"
	s, f := signer(t, signature.Sigstore), newFetcher(t.TempDir(), noLogins(t))
	_, err := f.Push(t.Context(), url, map[string]string{here: program(t, "mine")}, nil)
	require.NoError(t, err)
	response, err := server.Client().Get(server.URL + "/v2/plugin/manifests/v1")
	require.NoError(t, err)
	defer response.Body.Close()
	var index ocispec.Index
	require.NoError(t, json.NewDecoder(response.Body).Decode(&index))
	broken, err := json.Marshal(ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		ArtifactType: signature.BundleMediaType,
		Config:       ocispec.DescriptorEmptyJSON, Layers: []ocispec.Descriptor{}, Subject: &index.Manifests[0],
	})
	require.NoError(t, err)
	request, err := http.NewRequest(
		http.MethodPut, server.URL+"/v2/plugin/manifests/sha256:"+digest(broken), bytes.NewReader(broken),
	)
	require.NoError(t, err)
	request.Header.Set("Content-Type", ocispec.MediaTypeImageManifest)
	put, err := server.Client().Do(request)
	require.NoError(t, err)
	require.NoError(t, put.Body.Close())
	require.Equal(t, http.StatusCreated, put.StatusCode)

	_, err = install(t, t.TempDir(), signedBy(url, s))
	require.ErrorContains(t, err, "its registry has no signature of sigstore for it")
	_, err = f.Sign(t.Context(), url, s)
	require.NoError(t, err)
	_, err = install(t, t.TempDir(), signedBy(url, s))
	require.NoError(t, err)
}

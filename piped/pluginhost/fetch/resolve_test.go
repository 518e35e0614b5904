// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
)

// published is a directory with an index and what it leads to, served as it is.
type published struct {
	*httptest.Server
	dir string
}

func publish(t *testing.T) *published {
	t.Helper()
	p := &published{dir: t.TempDir()}
	p.Server = httptest.NewServer(http.FileServer(http.Dir(p.dir)))
	t.Cleanup(p.Close)
	return p
}

func (p *published) write(t *testing.T, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o600))
}

// binary is a line of an index for this platform.
func binaryLine(version, url, content string) string {
	return fmt.Sprintf(
		"      %s: {%s/%s: {url: %q, sha256: %s}}\n", version, runtime.GOOS, runtime.GOARCH, url,
		digest([]byte(content)),
	)
}

func resolveAndFetch(
	t *testing.T, f *fetch.Fetcher, index string, plugin config.Plugin,
) (fetch.Resolved, fetch.File, error) {
	t.Helper()
	r, err := f.Resolve(t.Context(), index, plugin)
	if err != nil {
		return r, fetch.File{}, err
	}
	file, err := f.Fetch(t.Context(), fetch.Request{Plugin: r.Name, URL: r.URL, SHA256: r.SHA256})
	return r, file, err
}

func TestTheIndexSaysWhereTheBinaryIsAndWhichOne(t *testing.T) {
	t.Parallel()
	p := publish(t)
	p.write(t, "canary-1", "one")
	p.write(t, "canary-2", "two")
	const head = "plugins:\n  canary:\n    versions:\n"
	p.write(t, "index.yaml", head+binaryLine("v1.0.0", "canary-1", "one"))
	dir := t.TempDir()
	f := newFetcher(dir)
	at := p.URL + "/index.yaml"
	newest := config.Plugin{Name: "p", URL: "canary"}
	r, file, err := resolveAndFetch(t, f, at, newest)
	require.NoError(t, err)
	require.Equal(t, "v1.0.0", r.Version)
	require.Equal(t, p.URL+"/canary-1", r.URL, "it is relative to the index")
	require.Equal(t, "one", content(t, file))

	p.write(
		t, "index.yaml", head+binaryLine("v1.0.0", "canary-1", "one")+binaryLine("v1.1.0", p.URL+"/canary-2", "two"),
	)
	r, file, err = resolveAndFetch(t, f, at, newest)
	require.NoError(t, err)
	require.Equal(t, "v1.1.0", r.Version)
	require.Equal(t, "two", content(t, file))
	r, _, err = resolveAndFetch(t, f, at, config.Plugin{Name: "p", URL: "canary@1.0.0"})
	require.NoError(t, err)
	require.Equal(t, "v1.0.0", r.Version)

	p.write(t, "canary-1", "exchanged")
	_, _, err = resolveAndFetch(t, newFetcher(t.TempDir()), at, config.Plugin{Name: "p", URL: "canary@1.0.0"})
	require.ErrorContains(t, err, "the content has the SHA-256 "+digest([]byte("exchanged")))

	_, err = f.Resolve(t.Context(), at, config.Plugin{Name: "p", URL: "canry"})
	require.ErrorContains(t, err, `plugin "p": `+at+`: the index has no plugin "canry"; did you mean canary?`)
	require.False(t, fetch.Passing(err))
	_, err = f.Resolve(t.Context(), at, config.Plugin{Name: "p", URL: "canary", SHA256: strings.Repeat("0", 64)})
	require.ErrorContains(t, err, "the index has canary@v1.1.0 with the SHA-256 "+digest([]byte("two")))
	_, err = f.Resolve(t.Context(), p.URL+"/nothing", newest)
	require.ErrorContains(t, err, `plugin "p": `+p.URL+"/nothing: the plugin index: the server answers 404")

	p.Close()
	r, _, err = resolveAndFetch(t, newFetcher(dir), at, newest)
	require.NoError(t, err)
	require.Equal(t, "v1.1.0", r.Version)
	require.ErrorContains(t, r.Stale, "the server cannot be asked")
	kept, ok, err := newFetcher(dir).ResolveKept(at, newest)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, r.Plugin, kept.Plugin)
	_, ok, err = newFetcher(t.TempDir()).ResolveKept(at, newest)
	require.NoError(t, err)
	require.False(t, ok, "no one has fetched it here")
}

func TestAnIndexIsAFileToo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	index := filepath.Join(dir, "index.yaml")
	require.NoError(t, os.WriteFile(index, []byte("plugins:\n  canary:\n    versions:\n"+
		fmt.Sprintf(
			"      v1: {%s: {url: bin/canary, sha256: %s, signature: canary.sig}}\n", here, digest([]byte("one")),
		)), 0o600))
	signed := config.Plugin{Name: "p", URL: "canary@v1", Signature: &config.PluginSignature{PublicKey: "k"}}
	for _, at := range []string{index, "file://" + index} {
		r, err := newFetcher(t.TempDir()).Resolve(t.Context(), at, signed)
		require.NoError(t, err)
		require.Equal(t, "file://"+dir+"/bin/canary", r.URL)
		require.Equal(t, digest([]byte("one")), r.SHA256)
		require.Equal(t, "file://"+dir+"/canary.sig", fetch.SignatureURL(r.Plugin))
		require.Empty(t, signed.Signature.URL, "the configuration is not changed")
	}
	plain := config.Plugin{Name: "p", URL: "oci://registry.example/p:v1"}
	r, err := newFetcher(t.TempDir()).Resolve(t.Context(), "", plain)
	require.NoError(t, err)
	require.Equal(t, plain, r.Plugin)
}

func TestAnIndexOfAnotherMachineNamesNoFilesOfThisOne(t *testing.T) {
	t.Parallel()
	p := publish(t)
	p.write(t, "index.yaml", "plugins:\n  canary:\n    versions:\n"+binaryLine("v1.0.0", "file:///bin/sh", "one"))
	p.write(t, "broken.yaml", "{")
	for at, says := range map[string]string{
		p.URL + "/index.yaml":         "the index leads to file:///bin/sh, which it cannot",
		p.URL + "/broken.yaml":        "the index cannot be read",
		"":                            "name one in the piped configuration: spec.pluginIndex",
		"oci://registry.example/i":    "give a path, file:// or https://",
		"http://example.com/i":        "to this machine only",
		"/no/such/index.yaml":         "correct the path of the plugin index",
		"https://me:secret@[::1/i":    "cannot be one",
		"https:///index.yaml?token=x": "names no host",
	} {
		_, err := newFetcher(t.TempDir()).Resolve(t.Context(), at, config.Plugin{Name: "p", URL: "canary"})
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, `plugin "p"`)
		require.NotContains(t, err.Error(), "secret")
	}
}

// elsewhere answers every request as a machine of another name.
type elsewhere string

func (text elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(text))),
		ContentLength: int64(len(text)), Request: r,
	}, nil
}

func TestAnIndexOfAnotherMachineLeadsToNoServerOfThisOne(t *testing.T) {
	t.Parallel()
	for url, refused := range map[string]bool{
		"http://127.0.0.1:1/p": true, "https://localhost/p": true, "https://[::1]/p": true,
		"https://[::1]:8443/p": true, "oci://localhost:5000/p:v1": true, "https://plugins.example/p": false, "p": false,
	} {
		index := elsewhere("plugins:\n  canary:\n    versions:\n" + binaryLine("v1.0.0", url, "one"))
		f := newFetcher(t.TempDir(), func(o *fetch.Options) { o.Transport = index })
		_, err := f.Resolve(t.Context(), "https://index.example/index.yaml", config.Plugin{Name: "p", URL: "canary"})
		if refused {
			require.ErrorContains(t, err, "the index leads to "+url+", which it cannot")
		} else {
			require.NoError(t, err)
		}
	}
}

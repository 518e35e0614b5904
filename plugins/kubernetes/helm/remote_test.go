// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/system/filetest"
)

// archive packs testdata/web as another version.
func archive(t *testing.T, version string) []byte {
	t.Helper()
	chrt, err := loader.LoadDir(filepath.Join("testdata", "web"))
	require.NoError(t, err)
	chrt.Metadata.Version = version
	packed, err := chartutil.Save(chrt, t.TempDir())
	require.NoError(t, err)
	data, err := os.ReadFile(packed)
	require.NoError(t, err)
	return data
}

// chartServer is an HTTP chart repository.
type chartServer struct {
	*httptest.Server
	login string
	asked atomic.Int32
	// busy is how many requests are answered with 503.
	busy  atomic.Int32
	files map[string][]byte
}

func serve(t *testing.T, login string, tls bool, versions ...string) *chartServer {
	t.Helper()
	s := &chartServer{login: login, files: map[string][]byte{}}
	index := "apiVersion: v1\nentries:\n  another:\n  - version: 9.9.9\n    description: |-\n      entries:\n" +
		"        web:\n  web:\n"
	for _, v := range versions {
		data := archive(t, v)
		sum := sha256.Sum256(data)
		name := "web-" + v + ".tgz"
		s.files["/charts/files/"+name] = data
		index += fmt.Sprintf("  - version: %s\n    digest: %s\n    urls:\n    - files/%s\n", v,
			hex.EncodeToString(sum[:]), name)
	}
	s.files["/charts/index.yaml"] = []byte(index + "  zebra:\n  - version: 1.0.0\ngenerated: now\n")
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		user, password, _ := r.BasicAuth()
		data, ok := s.files[r.URL.Path]
		switch {
		case s.busy.Add(-1) >= 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		case s.login != "" && user+":"+password != s.login:
			w.WriteHeader(http.StatusUnauthorized)
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write(data)
		}
	})
	s.Server = httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if tls {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// remoteRequest asks for the chart web of a repository.
func remoteRequest(t *testing.T, repository, version string) helm.Request {
	t.Helper()
	req := request(t, application(t))
	req.Path, req.Repository, req.Name, req.Version = "", repository, "web", version
	return req
}

func TestAChartComesFromARepositoryOnce(t *testing.T) {
	t.Parallel()
	server := serve(t, "me:secret", true, "1.0.0", "1.2.0", "2.0.0-rc.1")
	sources := helm.Sources{CacheDir: filepath.Join(t.TempDir(), "charts"),
		Repositories: []helm.Repository{{Name: "team", Address: server.URL + "/charts/", Username: "me",
			Password: "secret", Insecure: true}}}
	rendered, err := charts(t, sources).Render(t.Context(), remoteRequest(t, "team", "1.0.0"))
	require.NoError(t, err)
	require.Equal(t, "1.0.0", rendered.Version)
	require.True(t, rendered.Fixed)
	require.Contains(t, file(t, rendered, "web/templates/deployment.yaml"), "name: shop-web")
	require.EqualValues(t, 2, server.asked.Load(), "the index and the chart")

	_, err = charts(t, sources).Render(t.Context(), remoteRequest(t, "team", "1.0.0"))
	require.NoError(t, err)
	require.EqualValues(t, 2, server.asked.Load(), "an exact version is kept, for the next process as well")
	other := sources
	other.Repositories = []helm.Repository{{Name: "team", Address: server.URL + "/charts/", Username: "me",
		Password: "wrong", Insecure: true}}
	_, err = charts(t, other).Render(t.Context(), remoteRequest(t, "team", "1.0.0"))
	require.ErrorContains(t, err, "gives no access (401)", "what was kept for one login is not for another")
	require.NotContains(t, err.Error(), "wrong")

	for wanted, want := range map[string]string{"": "1.2.0", "1.x": "1.2.0", "<1.1": "1.0.0",
		">=2.0.0-0": "2.0.0-rc.1"} {
		rendered, err = charts(t, sources).Render(t.Context(), remoteRequest(t, server.URL+"/charts", wanted))
		require.NoError(t, err, wanted)
		require.Equal(t, want, rendered.Version, wanted)
		require.False(t, rendered.Fixed, "a range may give another one tomorrow")
	}
	for version, want := range map[string]string{
		"3.0.0": "there is no version 3.0.0 of it", "3.x": `no version of it fits "3.x"`,
		"new": `"new" is neither a version nor a range`,
	} {
		_, err = charts(t, sources).Render(t.Context(), remoteRequest(t, "team", version))
		require.ErrorContains(t, err, "get chart team/web "+version+": "+want)
	}
	req := remoteRequest(t, "team", "1.0.0")
	req.Name = "zoo"
	_, err = charts(t, sources).Render(t.Context(), req)
	require.ErrorContains(t, err, "the repository has no chart of that name")
	sources.Repositories[0].Insecure = false
	_, err = charts(t, helm.Sources{Repositories: sources.Repositories}).Render(t.Context(),
		remoteRequest(t, "team", "1.0.0"))
	require.ErrorContains(t, err, "have this machine trust the authority of its certificate, or set insecure: true")
}

func TestABusyServerIsAskedAgain(t *testing.T) {
	t.Parallel()
	server := serve(t, "", false, "1.0.0")
	sources := helm.Sources{Repositories: []helm.Repository{{Name: "team", Address: server.URL + "/charts"}}}
	server.busy.Store(1)
	_, err := charts(t, sources).Render(t.Context(), remoteRequest(t, "team", "1.0.0"))
	require.NoError(t, err)
	server.busy.Store(1000)
	_, err = charts(t, sources).Render(t.Context(), remoteRequest(t, "team", "1.0.0"))
	require.ErrorContains(t, err, "read its index: "+server.URL+"/charts/index.yaml answers 503 Service Unavailable")
}

func TestWhatARepositoryGivesIsChecked(t *testing.T) {
	t.Parallel()
	server := serve(t, "", false, "1.0.0")
	sources := helm.Sources{Repositories: []helm.Repository{{Name: "team", Address: server.URL + "/charts"}}}
	get := func(edit func()) error {
		edit()
		_, err := charts(t, sources).Render(t.Context(), remoteRequest(t, "team", "1.0.0"))
		return err
	}
	require.ErrorContains(t, get(func() { server.files["/charts/files/web-1.0.0.tgz"] = archive(t, "1.0.1") }),
		"its content is not what the index of the repository says")
	require.ErrorContains(t, get(func() { server.files["/charts/files/web-1.0.0.tgz"] = make([]byte, 32<<20+1) }),
		"web-1.0.0.tgz is larger than 32 MiB")
	require.ErrorContains(t, get(func() { delete(server.files, "/charts/files/web-1.0.0.tgz") }),
		"answers 404 Not Found")
	require.ErrorContains(t, get(func() { server.files["/charts/index.yaml"] = []byte("{[") }),
		"it is not the index of a chart repository")
	var unreachable *helm.UnreachableError
	require.NotErrorAs(t, get(func() {}), &unreachable, "a server that answers wrongly is there")
	lost := get(server.Close)
	require.ErrorContains(t, lost, "the server cannot be asked")
	require.ErrorAs(t, lost, &unreachable)
	kind, _ := unreachable.Cause()
	require.Equal(t, "UNREACHABLE", kind)
}

func TestIndexesMayBeWrittenInOtherWays(t *testing.T) {
	t.Parallel()
	server := serve(t, "", false, "1.0.0")
	server.files["/charts/index.yaml"] = []byte(
		`{"apiVersion": "v1", "entries": {"web": [{"version": "1.0.0", "urls": ["` + server.URL +
			`/charts/files/web-1.0.0.tgz"]}]}}`)
	sources := helm.Sources{Repositories: []helm.Repository{{Name: "team", Address: server.URL + "/charts"}}}
	_, err := charts(t, sources).Render(t.Context(), remoteRequest(t, "@team", "v1.0.0"))
	require.NoError(t, err)
}

func TestALoginIsForItsOwnServerOnly(t *testing.T) {
	t.Parallel()
	var leaked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			leaked.Store(true)
		}
	}))
	t.Cleanup(other.Close)
	server := serve(t, "me:secret", false, "1.0.0")
	sources := helm.Sources{Repositories: []helm.Repository{{Name: "team", Address: server.URL + "/charts",
		Username: "me", Password: "secret"}}}
	server.files["/charts/index.yaml"] = bytes.ReplaceAll(server.files["/charts/index.yaml"], []byte("files/web"),
		[]byte(other.URL+"/web"))
	_, err := charts(t, sources).Render(t.Context(), remoteRequest(t, "team", "1.0.0"))
	require.Error(t, err)

	redirecting := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	t.Cleanup(redirecting.Close)
	sources.Repositories[0].Address = redirecting.URL
	_, err = charts(t, sources).Render(t.Context(), remoteRequest(t, "team", "1.0.0"))
	require.Error(t, err)
	require.False(t, leaked.Load())

	secure := httptest.NewTLSServer(http.RedirectHandler(other.URL, http.StatusFound))
	t.Cleanup(secure.Close)
	sources.Repositories[0].Address, sources.Repositories[0].Insecure = secure.URL, true
	_, err = charts(t, sources).Render(t.Context(), remoteRequest(t, "team", "1.0.0"))
	require.ErrorContains(t, err, "the server redirects to http://, which is not protected")
}

func TestRepositoriesHaveToBeKnown(t *testing.T) {
	t.Parallel()
	team := helm.Sources{Repositories: []helm.Repository{{Name: "team", Address: "https://charts.example"}}}
	for repository, want := range map[string]string{
		"stable": `chart repository "stable" is not known: ` +
			`the plugin's chartRepositories in the piped configuration have team`,
		"":                      "input.helmChart: give path, or repository and name",
		"http://charts.invalid": "http:// is not protected: use https://, or have it added to chartRepositories",
		"ftp://charts.invalid":  "charts come from https:// and oci:// only",
		"oci://":                "write oci://registry/path",
	} {
		_, err := charts(t, team).Render(t.Context(), remoteRequest(t, repository, "1.0.0"))
		require.ErrorContains(t, err, want)
	}
	req := remoteRequest(t, "team", "1.0.0")
	for _, name := range []string{"", "../x", "a b", "a?b"} {
		req.Name = name
		_, err := charts(t, team).Render(t.Context(), req)
		require.ErrorContains(t, err, "is not the name of a chart")
	}
}

// pushCharts runs an OCI registry that wants a login and has the chart web in several versions.
func pushCharts(t *testing.T, login string, versions ...string) (address string, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	open := atomic.Bool{}
	open.Store(true)
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if user, password, _ := r.BasicAuth(); !open.Load() && user+":"+password != login {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	address = strings.TrimPrefix(server.URL, "http://")
	repository, err := remote.NewRepository(address + "/team/web")
	require.NoError(t, err)
	repository.PlainHTTP = true
	for _, v := range versions {
		data := archive(t, v)
		layer := content.NewDescriptorFromBytes("application/vnd.cncf.helm.chart.content.v1.tar+gzip", data)
		require.NoError(t, repository.Push(t.Context(), layer, bytes.NewReader(data)))
		metadata, err := json.Marshal(map[string]string{"name": "web", "version": v})
		require.NoError(t, err)
		config := content.NewDescriptorFromBytes("application/vnd.cncf.helm.config.v1+json", metadata)
		require.NoError(t, repository.Push(t.Context(), config, bytes.NewReader(metadata)))
		manifest, err := oras.PackManifest(t.Context(), repository, oras.PackManifestVersion1_1, "",
			oras.PackManifestOptions{
				ConfigDescriptor: &config, Layers: []ocispec.Descriptor{layer}})
		require.NoError(t, err)
		require.NoError(t, repository.Tag(t.Context(), manifest, strings.ReplaceAll(v, "+", "_")))
	}
	asked.Store(0)
	open.Store(login == "")
	return address, asked
}

func TestAChartComesFromARegistry(t *testing.T) {
	t.Parallel()
	address, asked := pushCharts(t, "me:secret", "1.0.0", "1.1.0+build.5")
	sources := helm.Sources{CacheDir: filepath.Join(t.TempDir(), "charts"), Registries: []helm.Registry{
		{Address: address, Username: "other", Password: "other"}, {Address: "oci://" + address + "/team",
			Username: "me", Password: "secret"}}}
	place := "oci://" + address + "/team"
	rendered, err := charts(t, sources).Render(t.Context(), remoteRequest(t, place, "1.0.0"))
	require.NoError(t, err)
	require.Equal(t, "1.0.0", rendered.Version)
	before := asked.Load()
	_, err = charts(t, sources).Render(t.Context(), remoteRequest(t, place, "1.0.0"))
	require.NoError(t, err)
	require.Equal(t, before, asked.Load())
	for _, version := range []string{"1.1.0+build.5", "~1.1", ""} {
		rendered, err = charts(t, sources).Render(t.Context(), remoteRequest(t, place, version))
		require.NoError(t, err, version)
		require.Equal(t, "1.1.0+build.5", rendered.Version)
		require.Equal(t, version == "1.1.0+build.5", rendered.Fixed)
	}
	_, err = charts(t, sources).Render(t.Context(), remoteRequest(t, place, "3.0.0"))
	require.ErrorContains(t, err, "the registry has no such chart, or not that version")
	_, err = charts(t, helm.Sources{}).Render(t.Context(), remoteRequest(t, place, "1.0.0"))
	require.ErrorContains(t, err, "the registry gives no access: set username and password for it in the plugin's "+
		"chartRegistries")
}

func TestOnlyChartsAreTakenFromARegistry(t *testing.T) {
	t.Parallel()
	address, _ := pushCharts(t, "")
	repository, err := remote.NewRepository(address + "/team/web")
	require.NoError(t, err)
	repository.PlainHTTP = true
	push := func(media string, size int) {
		data := make([]byte, size)
		layer := content.NewDescriptorFromBytes(media, data)
		require.NoError(t, repository.Push(t.Context(), layer, bytes.NewReader(data)))
		manifest, err := oras.PackManifest(t.Context(), repository, oras.PackManifestVersion1_1, "application/x",
			oras.PackManifestOptions{Layers: []ocispec.Descriptor{layer}})
		require.NoError(t, err)
		require.NoError(t, repository.Tag(t.Context(), manifest, "1.0.0"))
	}
	for want, p := range map[string]func(){
		"it is not a chart: push it with helm push": func() { push("application/x-other", 10) },
		"it is larger than 32 MiB": func() {
			push("application/vnd.cncf.helm.chart.content.v1.tar+gzip", 32<<20+1)
		},
		"not a chart that can be used": func() { push("application/vnd.cncf.helm.chart.content.v1.tar+gzip", 100) },
	} {
		p()
		_, err = charts(t, helm.Sources{}).Render(t.Context(), remoteRequest(t, "oci://"+address+"/team", "1.0.0"))
		require.ErrorContains(t, err, want)
	}
}

func TestDependenciesAreFetchedWhereTheyArePublished(t *testing.T) {
	t.Parallel()
	server := serve(t, "", false, "1.0.0", "1.3.0")
	sources := helm.Sources{Repositories: []helm.Repository{{Name: "team", Address: server.URL + "/charts"}}}
	root := application(t)
	parent := map[string]string{
		"charts/parent/Chart.yaml": "{apiVersion: v2, name: parent, version: 0.1.0, dependencies: [{name: web, " +
			"version: 1.x, repository: '" + server.URL + "/charts/'}]}",
	}
	filetest.Write(t, root, parent)
	req := request(t, root)
	req.Path = "../charts/parent"
	rendered, err := charts(t, sources).Render(t.Context(), req)
	require.NoError(t, err)
	require.Contains(t, file(t, rendered, "../charts/parent/charts/web/templates/deployment.yaml"), "name: shop-web")
	require.False(t, rendered.Fixed, "a range without Chart.lock")

	filetest.Write(t, root,
		map[string]string{"charts/parent/Chart.lock": "dependencies:\n- {name: web, version: 1.0.0, " +
			"repository: '" + server.URL + "/charts/'}\n"})
	asked := server.asked.Load()
	c := charts(t, sources)
	for range 2 {
		rendered, err = c.Render(t.Context(), req)
		require.NoError(t, err)
		require.True(t, rendered.Fixed)
	}
	require.Equal(t, asked+2, server.asked.Load(), "kept after the first time")
}

func TestValuesMayComeFromAURL(t *testing.T) {
	t.Parallel()
	server := serve(t, "", false)
	server.files["/values.yaml"] = []byte("replicas: 7\n")
	req := request(t, application(t))
	req.Options.ValueFiles = []string{server.URL + "/values.yaml"}
	rendered, err := render(t, req)
	require.NoError(t, err)
	require.False(t, rendered.Fixed)
	require.Contains(t, file(t, rendered, "../charts/web/templates/deployment.yaml"), "replicas: 7")
	req.Options.ValueFiles = []string{server.URL + "/gone.yaml?token=secret"}
	_, err = render(t, req)
	require.ErrorContains(t, err, "/gone.yaml answers 404 Not Found")
	require.NotContains(t, err.Error(), "secret")
}

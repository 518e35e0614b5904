// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aead.dev/minisign"
	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/signature"
)

func TestPluginIsDownloadedAndStartsWithoutItsServerTheNextTime(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, testPlugin) }),
	)
	defer server.Close()
	dir := t.TempDir()
	inDir := func(o *pluginhost.Options) { o.BinaryDir = dir }
	e := entry(t, "p", settings{"stages": []string{"A"}})
	e.URL = server.URL + "/p"
	host := start(t, inDir, e)
	s := await(t, host, inState(agentv1.Plugin_STATE_RUNNING))
	require.Empty(t, s.GetDetail())

	server.Close()
	host = start(t, inDir, e)
	s = await(t, host, inState(agentv1.Plugin_STATE_RUNNING))
	require.Contains(t, s.GetDetail(), "it runs as it was fetched before, because its url cannot be reached")
}

func TestAPluginThatCannotBeDownloadedDelaysNothingAndComesLater(t *testing.T) {
	t.Parallel()
	var well atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !well.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		http.ServeFile(w, r, testPlugin)
	}))
	defer server.Close()
	e := entry(t, "p", settings{})
	e.URL = server.URL + "/p"
	host := start(t, nil, e)
	s := await(t, host, inState(agentv1.Plugin_STATE_FAILED))
	require.Contains(t, s.GetDetail(), "the server answers 503 Service Unavailable")
	require.Contains(t, s.GetDetail(), "piped tries it again")
	well.Store(true)
	await(t, host, inState(agentv1.Plugin_STATE_RUNNING))
}

func TestPluginWithAnotherDigestDoesNotStart(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, testPlugin) }),
	)
	defer server.Close()
	right, err := fetch.Digest(testPlugin)
	require.NoError(t, err)
	wrong := strings.Repeat("0", 64)
	for _, url := range []string{"file://" + testPlugin, server.URL} {
		e := entry(t, "p", settings{})
		e.URL, e.SHA256 = url, wrong
		s := await(t, start(t, nil, e), inState(agentv1.Plugin_STATE_FAILED))
		require.Contains(t, s.GetDetail(), wrong)
		require.Contains(t, s.GetDetail(), right)
		require.Zero(t, s.GetRestarts())
		require.Empty(t, s.GetLastOutput(), "it never ran")

		e.SHA256 = right
		await(t, start(t, nil, e), inState(agentv1.Plugin_STATE_RUNNING))
	}
}

func TestPluginWithoutARightSignatureStartsOnlyWhereThatIsAllowed(t *testing.T) {
	t.Parallel()
	key, _, err := minisign.GenerateKey(nil)
	require.NoError(t, err)
	e := entry(t, "p", settings{})
	e.Signature = &config.PluginSignature{PublicKey: key.String(), Policy: config.SignatureRequire}
	s := await(t, start(t, nil, e), inState(agentv1.Plugin_STATE_FAILED))
	require.Contains(t, s.GetDetail(), "sign the binary with: pipedeck plugin sign")
	require.Empty(t, s.GetLastOutput(), "it never ran")

	e.Signature.Policy = config.SignatureWarn
	s = await(t, start(t, nil, e), inState(agentv1.Plugin_STATE_RUNNING))
	require.Contains(t, s.GetDetail(), "it is not signed as it should be")
}

func TestPluginStartsOnceItsSignatureIsThere(t *testing.T) {
	t.Parallel()
	key, err := signature.Generate(signature.Sigstore)
	require.NoError(t, err)
	program, err := os.ReadFile(testPlugin)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "plugin")
	require.NoError(t, os.WriteFile(path, program, 0o700))
	e := entry(t, "p", settings{})
	e.URL = "file://" + path
	e.Signature = &config.PluginSignature{PublicKey: key.Public().String(), Policy: config.SignatureRequire}
	host := start(t, nil, e)
	s := await(t, host, inState(agentv1.Plugin_STATE_FAILED))
	require.Contains(t, s.GetDetail(), path+".sigstore.json: ")
	text, err := key.Sign(bytes.NewReader(program), "")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path+".sigstore.json", text, 0o600))
	await(t, host, inState(agentv1.Plugin_STATE_RUNNING))
}

func TestADamagedCopyOfAPinnedPluginNeverRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inDir := func(o *pluginhost.Options) { o.BinaryDir = dir }
	e := entry(t, "p", settings{})
	var err error
	e.SHA256, err = fetch.Digest(testPlugin)
	require.NoError(t, err)
	host := start(t, inDir, e)
	await(t, host, inState(agentv1.Plugin_STATE_RUNNING))
	copies, err := filepath.Glob(filepath.Join(dir, "p-*"))
	require.NoError(t, err)
	require.Len(t, copies, 1)
	whole, err := os.Stat(copies[0])
	require.NoError(t, err)
	require.NoError(t, os.Remove(copies[0]))
	require.NoError(t, os.WriteFile(copies[0], bytes.Repeat([]byte("#"), int(whole.Size())), 0o700))

	before := host.Status()[0].GetPid()
	require.NoError(t, host.Restart("p"))
	await(t, host, func(s *agentv1.Plugin) bool {
		require.NotEqual(t, agentv1.Plugin_STATE_FAILED, s.GetState(), "the damaged copy was run")
		return s.GetState() == agentv1.Plugin_STATE_RUNNING && s.GetPid() != before
	})
	found, err := fetch.Digest(copies[0])
	require.NoError(t, err)
	require.Equal(t, e.SHA256, found)
}

// trickle serves the test plugin byte by byte after the first half, until everything is let go.
func trickle(t *testing.T) (url string, letGo func()) {
	t.Helper()
	program, err := os.ReadFile(testPlugin)
	require.NoError(t, err)
	released := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(program)))
		at := len(program) / 2
		_, _ = w.Write(program[:at])
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for at < len(program) {
			select {
			case <-ticker.C:
				_, _ = w.Write(program[at : at+1])
				at++
				w.(http.Flusher).Flush()
			case <-released:
				_, _ = w.Write(program[at:])
				return
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/slow", sync.OnceFunc(func() { close(released) })
}

var halfDownloaded = regexp.MustCompile(`^downloading: \d+ of \d+ [MK]iB \((4\d|50) %\)$`)

func nearlyHalf(s *agentv1.Plugin) bool { return halfDownloaded.MatchString(s.GetDetail()) }

func TestStagesOfOtherPluginsDoNotWaitForADownload(t *testing.T) {
	t.Parallel()
	url, letGo := trickle(t)
	slow := entry(t, "slow", settings{"stages": []string{"B"}})
	slow.URL = url
	host := start(t, nil, slow, entry(t, "quick", settings{"stages": []string{"A"}}))
	owner, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	response, err := execute(t.Context(), owner, "{}")
	require.NoError(t, err)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, response.GetStatus())
	require.NoError(t, host.Settled(t.Context(), "quick"))
	s := await(t, host, nearlyHalf)
	require.Equal(t, agentv1.Plugin_STATE_STARTING, s.GetState())

	letGo()
	owner, err = host.Owner(t.Context(), "B")
	require.NoError(t, err, "a stage that may be of the slow one waits for it")
	require.Equal(t, "slow", owner.Name())
	require.Equal(t, agentv1.Plugin_STATE_RUNNING, host.Status()[0].GetState())
}

func TestAStageGivenToAPluginWaitsForItsDownload(t *testing.T) {
	t.Parallel()
	url, letGo := trickle(t)
	slow := entry(t, "slow", settings{"stages": []string{"A"}})
	slow.URL, slow.Stages = url, []string{"A"}
	host := start(t, nil, slow, entry(t, "quick", settings{"stages": []string{"A"}}))
	require.NoError(t, host.Settled(t.Context(), "quick"))
	owner := make(chan string, 1)
	go func() {
		p, err := host.Owner(t.Context(), "A")
		if err != nil {
			owner <- err.Error()
			return
		}
		owner <- p.Name()
	}()
	await(t, host, nearlyHalf)
	letGo()
	require.Equal(t, "slow", <-owner)
}

func TestPluginIsFoundInAnIndex(t *testing.T) {
	t.Parallel()
	sum, err := fetch.Digest(testPlugin)
	require.NoError(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/index.json" {
			fmt.Fprintf(
				w, `{"plugins":{"canary":{"versions":{"v1.0.0":{"%s/%s":{"url":"canary","sha256":"%s"}}}}}}`,
				runtime.GOOS, runtime.GOARCH, sum,
			)
			return
		}
		http.ServeFile(w, r, testPlugin)
	}))
	defer server.Close()
	inIndex := func(o *pluginhost.Options) { o.PluginIndex = server.URL + "/index.json" }
	e := entry(t, "p", settings{"stages": []string{"A"}})
	e.URL = "canary"
	await(t, start(t, inIndex, e), inState(agentv1.Plugin_STATE_RUNNING))
	e.URL = "canary@v2"
	s := await(t, start(t, inIndex, e), inState(agentv1.Plugin_STATE_FAILED))
	require.Contains(t, s.GetDetail(), "the index has no version v2 of canary (it has: v1.0.0)")
}

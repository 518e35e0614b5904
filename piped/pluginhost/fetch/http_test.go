// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
)

// site serves one file and counts what it is asked.
type site struct {
	*httptest.Server
	mu       sync.Mutex
	content  []byte
	answer   func(w http.ResponseWriter, r *http.Request) bool // true when it has answered
	asked    atomic.Int32
	complete atomic.Int32
}

func newSite(t *testing.T, secure bool, content string) *site {
	t.Helper()
	s := &site{content: []byte(content)}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		s.mu.Lock()
		content, answer := s.content, s.answer
		s.mu.Unlock()
		if answer != nil && answer(w, r) {
			return
		}
		tag := `"` + digest(content)[:8] + `"`
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") != tag {
			s.complete.Add(1)
		}
		http.ServeContent(w, r, "plugin", time.Time{}, bytes.NewReader(content))
	})
	if secure {
		s.Server = httptest.NewTLSServer(handler)
	} else {
		s.Server = httptest.NewServer(handler)
	}
	t.Cleanup(s.Close)
	return s
}

func (s *site) set(content string, answer func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content, s.answer = []byte(content), answer
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func newFetcher(dir string, change ...func(*fetch.Options)) *fetch.Fetcher {
	options := fetch.Options{Dir: dir, Pause: time.Millisecond}
	for _, c := range change {
		c(&options)
	}
	return fetch.New(options)
}

func content(t *testing.T, f fetch.File) string {
	t.Helper()
	data, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	require.Equal(t, digest(data), f.SHA256)
	return string(data)
}

func TestFetchAsksOnlyForWhatHasChanged(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, "one")
	dir := filepath.Join(t.TempDir(), "made")
	f := newFetcher(dir, func(o *fetch.Options) { o.Transport = s.Client().Transport })
	r := fetch.Request{Plugin: "p", URL: s.URL + "/plugin"}
	first, err := f.Fetch(t.Context(), r)
	require.NoError(t, err)
	require.True(t, first.Downloaded)
	require.Equal(t, "one", content(t, first))
	info, err := os.Stat(first.Path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o500), info.Mode().Perm())
	info, err = os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	again, err := f.Fetch(t.Context(), r)
	require.NoError(t, err)
	require.False(t, again.Downloaded)
	require.Equal(t, first.Path, again.Path)
	require.EqualValues(t, 1, s.complete.Load(), "the second answer had no content")

	s.set("two", nil)
	changed, err := f.Fetch(t.Context(), r)
	require.NoError(t, err)
	require.True(t, changed.Downloaded)
	require.Equal(t, "two", content(t, changed))

	other := r
	other.URL += "?version=2"
	elsewhere, err := f.Fetch(t.Context(), other)
	require.NoError(t, err)
	require.True(t, elsewhere.Downloaded, "another url is another plugin")
}

func TestWhatWasFetchedServesWithoutTheServer(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, "one")
	dir := t.TempDir()
	r := fetch.Request{Plugin: "p", URL: s.URL + "/plugin"}
	_, err := newFetcher(dir).Fetch(t.Context(), r)
	require.NoError(t, err)
	s.Close()
	file, err := newFetcher(dir).Fetch(t.Context(), r)
	require.NoError(t, err)
	require.ErrorContains(t, file.Stale, "the server cannot be asked")
	require.Equal(t, "one", content(t, file))

	require.NoError(t, os.Chmod(file.Path, 0o700))
	require.NoError(t, os.WriteFile(file.Path, []byte("bad"), 0o700))
	_, err = newFetcher(dir).Fetch(t.Context(), r)
	require.ErrorContains(t, err, "the server cannot be asked", "a damaged file is not taken")
	require.True(t, fetch.Passing(err))
}

func TestPassingErrorsAreTriedAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, "one")
	var broken atomic.Int32
	s.set("one", func(w http.ResponseWriter, _ *http.Request) bool {
		switch broken.Add(1) {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("half"))
		case 3:
			panic(http.ErrAbortHandler)
		default:
			return false
		}
		return true
	})
	file, err := newFetcher(t.TempDir()).Fetch(t.Context(), fetch.Request{Plugin: "p", URL: s.URL})
	require.NoError(t, err)
	require.Equal(t, "one", content(t, file))
	require.EqualValues(t, 4, s.asked.Load())
}

func TestLastingErrorsAreReportedAtOnceWithTheNextStep(t *testing.T) {
	t.Parallel()
	secure, plain := newSite(t, true, "one"), newSite(t, false, "one")
	status := func(code int) string {
		s := newSite(t, false, "")
		s.set("", func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(code); return true })
		return s.URL
	}
	toPlain := newSite(t, true, "")
	toPlain.set("", func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, plain.URL, http.StatusFound)
		return true
	})
	round := newSite(t, false, "")
	round.set("", func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, "/", http.StatusFound)
		return true
	})
	for name, c := range map[string]struct {
		url   string
		trust *site
		says  []string
	}{
		"unknown authority": {secure.URL, nil, []string{"the server is not who it should be", "trust the authority"}},
		"not found": {
			status(404) + "/x?token=secret", nil,
			[]string{`plugin "p": http://127.0.0.1`, "/x?…: the server answers 404 Not Found; correct the url"},
		},
		"no access":  {status(403), nil, []string{"403 Forbidden", "give access"}},
		"plain http": {"http://plugins.example/p", nil, []string{"to this machine only", "use https://"}},
		"to an open path": {
			toPlain.URL, toPlain, []string{"the server redirects to http://127.0.0.1", "not protected"},
		},
		"round and round":     {round.URL, nil, []string{"more than 10 times"}},
		"no host":             {"https:///p", nil, []string{"names no host"}},
		"unknown scheme":      {"ftp://host/p", nil, []string{"unknown scheme"}},
		"password in the url": {strings.Replace(status(404), "://", "://me:secret@", 1), nil, []string{"404"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFetcher(t.TempDir(), func(o *fetch.Options) {
				if c.trust != nil {
					o.Transport = c.trust.Client().Transport
				}
			})
			_, err := f.Fetch(t.Context(), fetch.Request{Plugin: "p", URL: c.url})
			for _, words := range c.says {
				require.ErrorContains(t, err, words)
			}
			require.NotContains(t, err.Error(), "secret")
			require.False(t, fetch.Passing(err))
		})
	}
}

func TestDownloadsHaveBounds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2<<20)
	s := newSite(t, false, long)
	for name, chunked := range map[string]bool{"announced": false, "not announced": true} {
		s.set(long, func(w http.ResponseWriter, _ *http.Request) bool {
			if chunked {
				_, _ = fmt.Fprint(w, long)
			}
			return chunked
		})
		dir := t.TempDir()
		_, err := newFetcher(
			dir, func(o *fetch.Options) { o.MaxSize = 1 << 20 },
		).Fetch(t.Context(), fetch.Request{Plugin: "p", URL: s.URL})
		require.ErrorContains(t, err, "larger than 1024 KiB", name)
		left, err := filepath.Glob(filepath.Join(dir, ".download-*"))
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

func TestDownloadThatStallsIsGivenUp(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, "")
	s.set("", func(w http.ResponseWriter, r *http.Request) bool {
		_, _ = w.Write([]byte("begun"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	})
	f := newFetcher(t.TempDir(), func(o *fetch.Options) { o.StallTimeout = 200 * time.Millisecond })
	_, err := f.Fetch(t.Context(), fetch.Request{Plugin: "p", URL: s.URL})
	require.ErrorContains(t, err, "the server sends nothing")
	require.True(t, fetch.Passing(err))
	require.Greater(t, s.asked.Load(), int32(1), "it was tried again")
}

func TestFetchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newSite(t, false, "")
	s.set("", func(_ http.ResponseWriter, r *http.Request) bool {
		cancel()
		<-r.Context().Done()
		return true
	})
	_, err := newFetcher(t.TempDir()).Fetch(ctx, fetch.Request{Plugin: "p", URL: s.URL})
	require.ErrorIs(t, err, context.Canceled)
}

func TestProgressIsReported(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, strings.Repeat("x", 3<<20))
	var seen []int64
	_, err := newFetcher(
		t.TempDir(),
	).Fetch(t.Context(), fetch.Request{Plugin: "p", URL: s.URL, Progress: func(done, total int64) {
		require.EqualValues(t, 3<<20, total)
		seen = append(seen, done)
	}})
	require.NoError(t, err)
	require.Greater(t, len(seen), 2)
	require.EqualValues(t, 3<<20, seen[len(seen)-1])
}

func TestManyFetchersShareADirectory(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, strings.Repeat("x", 1<<20))
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			file, err := newFetcher(dir).Fetch(t.Context(), fetch.Request{Plugin: "p", URL: s.URL})
			if err != nil || len(content(t, file)) != 1<<20 {
				t.Error(err)
			}
		})
	}
	all.Wait()
	files, err := os.ReadDir(filepath.Join(dir, "content"))
	require.NoError(t, err)
	require.Len(t, files, 1)
}

func TestAPinnedDigestIsWantedAndNeedsNoServerTwice(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, "one")
	dir := t.TempDir()
	wanted := digest([]byte("one"))
	r := fetch.Request{Plugin: "p", URL: s.URL, SHA256: wanted}
	file, err := newFetcher(dir).Fetch(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, wanted, file.SHA256)
	asked := s.asked.Load()
	_, err = newFetcher(dir).Fetch(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, asked, s.asked.Load())

	r.SHA256 = digest([]byte("two"))
	_, err = newFetcher(dir).Fetch(t.Context(), r)
	require.ErrorContains(t, err, wanted)
	require.ErrorContains(t, err, "and "+r.SHA256+" is wanted")
	require.ErrorContains(t, err, "write its digest to plugins[].sha256")
	require.False(t, fetch.Passing(err))

	s.set("two", nil)
	file, err = newFetcher(dir).Fetch(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, "two", content(t, file))
}

func TestAQueryIsNotSentToWhereTheServerRedirects(t *testing.T) {
	t.Parallel()
	referer := make(chan string, 1)
	elsewhere := newSite(t, false, "plugin")
	elsewhere.set("plugin", func(_ http.ResponseWriter, r *http.Request) bool {
		referer <- r.Referer()
		return false
	})
	first := newSite(t, false, "")
	first.set("", func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		return true
	})
	file, err := newFetcher(t.TempDir()).Fetch(
		t.Context(), fetch.Request{Plugin: "p", URL: first.URL + "/p?token=secret"},
	)
	require.NoError(t, err)
	require.Equal(t, "plugin", content(t, file))
	require.Empty(t, <-referer)
}

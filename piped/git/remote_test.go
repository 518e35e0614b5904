// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// serve offers the directory's repositories over smart HTTP to user "ada" with password "secret".
func serve(t *testing.T, dir string) string {
	t.Helper()
	out, err := exec.Command("git", "--exec-path").Output()
	require.NoError(t, err)
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ada" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestBranchOfAServerIsFetchedAndOldCommitsStay(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	first := u.commit("First")
	url := serve(t, u.dir)
	options := Options{ID: "apps", Remote: url + "/.git", Branch: "main", Dir: t.TempDir(), Username: "ada", Password: "secret", Interval: time.Millisecond}
	r, err := Open(t.Context(), options)
	require.NoError(t, err)
	head, err := r.Update(t.Context())
	require.NoError(t, err)
	require.Equal(t, first, head.Hash)

	u.write("a", "2")
	u.git("commit", "-q", "-a", "--amend", "-m", "Rewritten")
	head, err = r.Update(t.Context())
	require.NoError(t, err, "a force push is followed")
	require.Equal(t, "Rewritten", head.Subject)
	again, err := r.Update(t.Context())
	require.NoError(t, err)
	require.Equal(t, head, again)
	dir := filepath.Join(t.TempDir(), "checkout")
	_, err = r.Checkout(t.Context(), first, dir)
	require.NoError(t, err)
	content, err := os.ReadFile(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.Equal(t, "1", string(content))
	_, err = r.Commit(t.Context(), strings.Repeat("1", 40))
	require.ErrorIs(t, err, ErrNoCommit)
}

func TestProblemsOfAServerAreTyped(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.commit("First")
	empty := newUserRepo(t)
	url, emptyURL := serve(t, u.dir), serve(t, empty.dir)
	for name, c := range map[string]struct {
		remote, branch, password string
		want                     error
	}{
		"wrong password": {url + "/.git", "main", "wrong", ErrAuth},
		"no password":    {url + "/.git", "main", "", ErrAuth},
		"no repository":  {url + "/other.git", "main", "secret", ErrNotRepository},
		"no branch":      {url + "/.git", "other", "secret", ErrNoBranch},
		"no commits":     {emptyURL + "/.git", "main", "secret", ErrNoCommits},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Open(t.Context(), Options{ID: "apps", Remote: c.remote, Branch: c.branch, Dir: t.TempDir(), Username: "ada", Password: c.password})
			require.NoError(t, err)
			_, err = r.Update(t.Context())
			require.ErrorIs(t, err, c.want, "%v", err)
			require.NotContains(t, err.Error(), "wrong")
		})
	}
}

func TestLocalRemotesAreToldFromOthers(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"file:///a%20b/c": "/a b/c", "file://localhost/a": "/a", "/a/b": "/a/b", "./a:b": "./a:b", "relative/x": "relative/x",
		"git@example.com:a/b.git": "", "ssh://example.com/a": "", "https://example.com/a": "",
	} {
		path, local := localPath(remote)
		require.Equal(t, want, path, remote)
		require.Equal(t, want != "", local, remote)
	}
}

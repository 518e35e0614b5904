// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// serve offers the directory's repositories over smart HTTP to user "ada" with password "secret".
func serve(t *testing.T, dir string) string {
	t.Helper()
	server := httptest.NewServer(backend(t, dir))
	t.Cleanup(server.Close)
	return server.URL
}

// backend is Git's own server.
func backend(t *testing.T, dir string) http.Handler {
	t.Helper()
	out, err := exec.Command("git", "--exec-path").Output()
	require.NoError(t, err)
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory",
			"GIT_CONFIG_VALUE_0=*",
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ada" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	})
}

func TestBranchOfAServerIsFetchedAndOldCommitsStay(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	first := u.commit("First")
	url := serve(t, u.dir)
	options := Options{
		ID: "apps", Remote: url + "/.git", Branch: "main", Dir: t.TempDir(), Username: "ada", Password: "secret",
		Interval: time.Millisecond,
	}
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
			r, err := Open(
				t.Context(),
				Options{
					ID: "apps", Remote: c.remote, Branch: c.branch, Dir: t.TempDir(), Username: "ada",
					Password: c.password,
				},
			)
			require.NoError(t, err)
			_, err = r.Update(t.Context())
			require.ErrorIs(t, err, c.want, "%v", err)
			require.NotContains(t, err.Error(), "wrong")
		})
	}
}

func TestTheHistoryIsNotFetchedAndOldCommitsAreFoundAllTheSame(t *testing.T) {
	t.Parallel()
	for name, byName := range map[string]string{
		"from a server that gives any commit": "true", "from a server that gives branches only": "false",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUserRepo(t)
			var commits []string
			for i := range 10 {
				u.write("a", fmt.Sprint(i))
				commits = append(commits, u.commit(fmt.Sprint(i)))
			}
			u.git("config", "uploadpack.allowAnySHA1InWant", byName)
			options := Options{
				ID: "apps", Remote: serve(t, u.dir) + "/.git", Branch: "main", Dir: t.TempDir(), Username: "ada",
				Password: "secret",
			}
			r, err := Open(t.Context(), options)
			require.NoError(t, err)
			_, err = r.Update(t.Context())
			require.NoError(t, err)
			require.False(t, r.mirror.has(plumbing.NewHash(commits[8])), "one commit was fetched")
			for i := range 3 {
				u.write("b", fmt.Sprint(i))
				head := u.commit("More")
				got, err := r.Update(t.Context())
				require.NoError(t, err)
				require.Equal(t, head, got.Hash)
			}
			changed, err := r.ChangedFiles(t.Context(), commits[4], commits[9])
			require.NoError(t, err)
			require.Equal(t, []string{"a"}, changed, "a commit that was deployed before the mirror was lost")
			u.write("b", "last")
			head := u.commit("Last")
			got, err := r.Update(t.Context())
			require.NoError(t, err)
			require.Equal(t, head, got.Hash)
			content, err := r.ReadFile(t.Context(), commits[9], "a")
			require.NoError(t, err)
			require.Equal(t, "9", string(content))
		})
	}
}

func TestABranchOfAServerMayVanishAndComeBack(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	first := u.commit("First")
	r, err := Open(
		t.Context(),
		Options{
			ID: "apps", Remote: serve(t, u.dir) + "/.git", Branch: "main", Dir: t.TempDir(), Username: "ada",
			Password: "secret",
		},
	)
	require.NoError(t, err)
	_, err = r.Update(t.Context())
	require.NoError(t, err)
	u.git("branch", "-m", "main", "trunk")
	_, err = r.Update(t.Context())
	require.ErrorIs(t, err, ErrNoBranch)
	require.ErrorContains(t, err, "main is missing, there is trunk")
	_, err = r.ReadFile(t.Context(), first, "a")
	require.NoError(t, err, "what was deployed stays readable")
	u.git("branch", "-m", "trunk", "main")
	head, err := r.Update(t.Context())
	require.NoError(t, err)
	require.Equal(t, first, head.Hash)
}

func TestTheMirrorStaysUsableWhileAServerIsSilent(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	first := u.commit("First")
	git := backend(t, u.dir)
	asked, silent := make(chan struct{}), make(chan struct{})
	var quiet atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if quiet.Load() {
			close(asked)
			<-silent
		}
		git.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(silent) })
	r, err := Open(
		t.Context(),
		Options{
			ID: "apps", Remote: server.URL + "/.git", Branch: "main", Dir: t.TempDir(), Username: "ada",
			Password: "secret",
		},
	)
	require.NoError(t, err)
	_, err = r.Update(t.Context())
	require.NoError(t, err)
	quiet.Store(true)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := r.Update(ctx)
		ended <- err
	}()
	<-asked
	content, err := r.ReadFile(t.Context(), first, "a")
	require.NoError(t, err)
	require.Equal(t, "1", string(content))
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
}

func TestWhatIsNoAddressOrBranchIsRefusedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		remote, branch string
		reason         error
	}{
		{"rsync://ada:hunter2@example.com/a", "main", ErrNotRepository},
		{"ext::sh -c hunter2", "main", ErrNotRepository},
		{"https://ada:hunter2@example.com/a", "--upload-pack=touch x", ErrNoBranch},
		{"https://ada:hunter2@example.com/a", "a..b", ErrNoBranch},
	} {
		_, err := Open(t.Context(), Options{ID: "apps", Remote: c.remote, Branch: c.branch, Dir: t.TempDir()})
		require.ErrorIs(t, err, c.reason)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

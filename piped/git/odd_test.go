// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestARepositoryMayBeReplacedByAnother(t *testing.T) {
	t.Parallel()
	served, replaced := newUserRepo(t), newUserRepo(t)
	served.write("a", "1")
	first := served.commit("First")
	replaced.write("b", "2")
	second := replaced.commit("Of another")
	shell := serveSSH(t)
	for name, remote := range map[string]func(dir string) string{
		"on this machine": func(dir string) string { return dir },
		"on a server":     func(dir string) string { return "ssh://git@" + shell.address + dir },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "repository")
			require.NoError(t, os.CopyFS(dir, os.DirFS(served.dir)))
			r, err := Open(t.Context(), shell.options(t, remote(dir)))
			require.NoError(t, err)
			head, err := r.Update(t.Context())
			require.NoError(t, err)
			require.Equal(t, first, head.Hash)
			require.NoError(t, os.RemoveAll(dir))
			_, err = r.Update(t.Context())
			require.ErrorIs(t, err, ErrNotRepository)
			require.NoError(t, os.CopyFS(dir, os.DirFS(replaced.dir)))
			head, err = r.Update(t.Context())
			require.NoError(t, err)
			require.Equal(t, second, head.Hash)
			changed, err := r.ChangedFiles(t.Context(), first, second)
			require.NoError(t, err)
			require.Equal(t, []string{"a", "b"}, changed, "the former one stays readable")
		})
	}
}

func TestNamesThatAreNoTextAreKept(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	names := []string{
		"new\nline",
		"tab\there",
		"quote\"'`$(x)",
		" space ",
		"-dash",
		"ümlaut",
		"\u202eright to left",
		"back\\slash",
	}
	if runtime.GOOS != "darwin" { // whose file systems take text alone
		names = append(names, "latin-\xfc", "\xff\xfe/\x01")
	}
	for _, name := range names {
		u.write(name, name)
	}
	head := u.commit("Odd")
	r := open(t, u.dir)
	changed, err := r.ChangedFiles(t.Context(), "", head)
	require.NoError(t, err)
	require.ElementsMatch(t, names, changed)
	dir := filepath.Join(t.TempDir(), "checkout")
	_, err = r.Checkout(t.Context(), head, dir)
	require.NoError(t, err)
	for _, name := range names {
		written, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, name, string(written))
		read, err := r.ReadFile(t.Context(), head, name)
		require.NoError(t, err)
		require.Equal(t, name, string(read))
	}
}

func TestARenameThatChangesOnlyTheCaseIsFollowed(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("app/Config.yaml", "1")
	u.write("Dir/a", "1")
	first := u.commit("First")
	u.git("mv", "app/Config.yaml", "app/config.tmp")
	u.git("mv", "app/config.tmp", "app/config.yaml")
	u.git("mv", "Dir", "tmp")
	u.git("mv", "tmp", "dir")
	second := u.commit("Second")
	r := open(t, u.dir)
	changed, err := r.ChangedFiles(t.Context(), first, second)
	require.NoError(t, err)
	require.Equal(t, []string{"Dir/a", "app/Config.yaml", "app/config.yaml", "dir/a"}, changed)
	dir := filepath.Join(t.TempDir(), "checkout")
	left, err := r.Checkout(t.Context(), first, dir)
	require.NoError(t, err)
	_, err = r.Advance(t.Context(), first, second, dir, left)
	require.NoError(t, err)
	require.Equal(t, []string{"app", "dir"}, namesIn(t, dir))
	require.Equal(t, []string{"config.yaml"}, namesIn(t, filepath.Join(dir, "app")))
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestAHugeFileIsCheckedOutAndNotRead(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	block := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	want := sha256.New()
	file, err := os.Create(filepath.Join(u.dir, "huge"))
	require.NoError(t, err)
	both := io.MultiWriter(file, want)
	for i := range maxFileSize/len(block) + 1 {
		_, err := fmt.Fprintf(both, "%d%s", i, block)
		require.NoError(t, err)
	}
	require.NoError(t, file.Close())
	head := u.commit("Huge")
	shell := serveSSH(t)
	r, err := Open(t.Context(), shell.options(t, "ssh://git@"+shell.address+u.dir))
	require.NoError(t, err)
	_, err = r.Update(t.Context())
	require.NoError(t, err)
	_, err = r.ReadFile(t.Context(), head, "huge")
	require.ErrorContains(t, err, "over the limit")
	dir := filepath.Join(t.TempDir(), "checkout")
	_, err = r.Checkout(t.Context(), head, dir)
	require.NoError(t, err)
	written, err := os.Open(filepath.Join(dir, "huge"))
	require.NoError(t, err)
	defer written.Close()
	got := sha256.New()
	_, err = io.Copy(got, written)
	require.NoError(t, err)
	require.Equal(t, want.Sum(nil), got.Sum(nil))
}

func TestOnlyWhatIsNewComesFromAServer(t *testing.T) {
	t.Parallel()
	u, r, hashes := grown(t, 3, func(u *userRepo, i int) {
		for j := range 50 {
			u.write(fmt.Sprintf("d/%d", j), strings.Repeat(fmt.Sprintln(j), 100))
		}
		u.write("a", fmt.Sprint(i))
	})
	var counts []int
	for _, pack := range packsOf(t, r) {
		objects, err := objectsOf(r.mirror.packDir(), pack.id)
		require.NoError(t, err)
		counts = append(counts, len(objects))
	}
	require.ElementsMatch(t, []int{54, 3, 3}, counts, "a commit, its tree and the file; at first all of it")
	for i, hash := range hashes {
		content, err := r.ReadFile(t.Context(), hash, "a")
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(i), string(content))
		dir := filepath.Join(t.TempDir(), hash)
		_, err = r.Checkout(t.Context(), hash, dir)
		require.NoError(t, err)
		require.Len(t, namesIn(t, filepath.Join(dir, "d")), 50)
	}
	u.fsck(t, r)
}

func TestAServerThatCannotSendDifferencesSendsAll(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	u.commit("First")
	git := backend(t, u.dir)
	var refused atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("have ")) {
			refused.Add(1)
			http.Error(w, "too difficult", http.StatusInternalServerError)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		git.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	r, err := Open(
		t.Context(),
		Options{
			ID:       "apps",
			Remote:   server.URL + "/.git",
			Branch:   "main",
			Dir:      t.TempDir(),
			Username: "ada",
			Password: "secret",
		},
	)
	require.NoError(t, err)
	_, err = r.Update(t.Context())
	require.NoError(t, err)
	u.write("a", "2")
	second := u.commit("Second")
	head, err := r.Update(t.Context())
	require.NoError(t, err)
	require.Equal(t, second, head.Hash)
	require.EqualValues(t, 1, refused.Load())
}

func TestMessagesOfCommitsAreText(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	message := filepath.Join(t.TempDir(), "message")
	for encoding, want := range map[string]string{
		"ISO-8859-1": "Grüße", "latin1": "Grüße", "UTF-8": "Grüße", "Shift_JIS": "Gr\uFFFDe",
	} {
		require.NoError(t, os.WriteFile(message, []byte("Gr\xfc\xdfe\n\nAus M\xfcnchen\n"), 0o600))
		u.git("-c", "i18n.commitEncoding="+encoding, "commit", "-q", "--allow-empty", "-F", message)
		head, err := open(t, u.dir).Update(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, head.Subject, encoding)
		require.True(t, utf8.ValidString(head.Body))
		require.NotEmpty(t, head.Body)
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// cut shortens a file, as a power cut does with what was not on the disk yet.
func cut(t *testing.T, name string, size int64) {
	t.Helper()
	require.NoError(t, os.Chmod(name, 0o600))
	require.NoError(t, os.Truncate(name, size))
}

// blank overwrites the middle of a file with zeros.
func blank(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, os.Chmod(name, 0o600))
	info, err := os.Stat(name)
	require.NoError(t, err)
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer file.Close()
	_, err = file.WriteAt(make([]byte, info.Size()-100), 60)
	require.NoError(t, err)
}

func looseFile(u *userRepo, r *Repository, revision string) string {
	return loosePath(filepath.Join(r.options.Dir, "objects"), plumbing.NewHash(u.git("rev-parse", revision)))
}

func onlyPack(t *testing.T, r *Repository) string {
	t.Helper()
	packs := packsOf(t, r)
	require.Len(t, packs, 1)
	return filepath.Join(r.mirror.packDir(), packPrefix+packs[0].id.String())
}

// damages are what a power cut can leave of a mirror whose objects are separate files, and of one with a pack.
func damages() map[string]struct {
	packed bool
	damage func(t *testing.T, u *userRepo, r *Repository)
} {
	return map[string]struct {
		packed bool
		damage func(t *testing.T, u *userRepo, r *Repository)
	}{
		"commit that is cut": {
			damage: func(t *testing.T, u *userRepo, r *Repository) { cut(t, looseFile(u, r, "HEAD"), 20) },
		},
		"empty commit": {
			damage: func(t *testing.T, u *userRepo, r *Repository) { cut(t, looseFile(u, r, "HEAD"), 0) },
		},
		"empty tree": {
			damage: func(t *testing.T, u *userRepo, r *Repository) { cut(t, looseFile(u, r, "HEAD:app"), 0) },
		},
		"tree of the former commit": {damage: func(t *testing.T, u *userRepo, r *Repository) {
			cut(t, looseFile(u, r, "HEAD:same"), 10)
		}},
		"missing tree": {damage: func(t *testing.T, u *userRepo, r *Repository) {
			require.NoError(t, os.Remove(looseFile(u, r, "HEAD:app")))
		}},
		"file that is cut": {damage: func(t *testing.T, u *userRepo, r *Repository) {
			cut(t, looseFile(u, r, "HEAD:app/config"), 12)
		}},
		"empty branch": {damage: func(t *testing.T, _ *userRepo, r *Repository) {
			cut(t, filepath.Join(r.options.Dir, "refs", "heads", "main"), 0)
		}},
		"branch, HEAD and shallow of zeros": {damage: func(t *testing.T, _ *userRepo, r *Repository) {
			for _, name := range []string{"refs/heads/main", "HEAD", "shallow", "config"} {
				require.NoError(t, os.WriteFile(filepath.Join(r.options.Dir, name), make([]byte, 41), 0o600))
			}
		}},
		"pack of zeros": {
			packed: true,
			damage: func(t *testing.T, _ *userRepo, r *Repository) { blank(t, onlyPack(t, r)+packSuffix) },
		},
		"pack that is cut": {
			packed: true,
			damage: func(t *testing.T, _ *userRepo, r *Repository) { cut(t, onlyPack(t, r)+packSuffix, 500) },
		},
		"index of zeros": {
			packed: true, damage: func(t *testing.T, _ *userRepo, r *Repository) { blank(t, onlyPack(t, r)+idxSuffix) },
		},
		"index and pack without content": {packed: true, damage: func(t *testing.T, _ *userRepo, r *Repository) {
			cut(t, onlyPack(t, r)+idxSuffix, 0)
			cut(t, onlyPack(t, r)+packSuffix, 0)
		}},
	}
}

func TestADamagedMirrorIsRepairedFromItsRemote(t *testing.T) {
	t.Parallel()
	shell := serveSSH(t)
	for name, c := range damages() {
		for where, remote := range map[string]func(dir string) string{
			"on this machine": func(dir string) string { return dir },
			"on a server":     func(dir string) string { return "ssh://git@" + shell.address + dir },
		} {
			if where == "on a server" && !c.packed {
				continue // what a server sends is in packs
			}
			t.Run(name+" "+where, func(t *testing.T) {
				t.Parallel()
				u := newUserRepo(t)
				u.write("same/file", "same")
				u.write("app/config", "1")
				files := 3
				if c.packed {
					files = packFrom + 10
				}
				for i := range files {
					u.write(fmt.Sprintf("many/%d", i), fmt.Sprint(i))
				}
				u.commit("First")
				var reports []error
				options := shell.options(t, remote(u.dir))
				options.Observer.Damaged = func(err error) { reports = append(reports, err) }
				r, err := Open(t.Context(), options)
				require.NoError(t, err)
				head, err := r.Update(t.Context())
				require.NoError(t, err)
				c.damage(t, u, r)

				again, err := Open(t.Context(), options)
				require.NoError(t, err)
				now, err := again.Update(t.Context())
				require.NoError(t, err)
				require.Equal(t, head.Hash, now.Hash)
				dir := filepath.Join(t.TempDir(), "checkout")
				_, err = again.Checkout(t.Context(), head.Hash, dir)
				if err != nil {
					require.ErrorIs(t, err, ErrRepaired)
					require.NoError(t, os.RemoveAll(dir))
					_, err = again.Checkout(t.Context(), head.Hash, dir)
				}
				require.NoError(t, err)
				content, err := os.ReadFile(filepath.Join(dir, "app", "config"))
				require.NoError(t, err)
				require.Equal(t, "1", string(content))
				_, err = again.Update(t.Context())
				require.NoError(t, err)
				if len(reports) > 0 {
					require.Len(t, reports, 2, "one damage is reported once")
					require.Error(t, reports[0])
					require.NoError(t, reports[1], "the problem clears")
				}
				u.write("app/config", "2")
				next := u.commit("Second")
				changed, err := again.ChangedFiles(t.Context(), head.Hash, next)
				require.NoError(t, err)
				require.Equal(t, []string{"app/config"}, changed)
				require.NoDirExists(t, filepath.Join(options.Dir, damagedFolder))
			})
		}
	}
}

func TestEachReadRepairsADamagedMirror(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(ctx context.Context, r *Repository, first, head string) error{
		"Commit": func(ctx context.Context, r *Repository, _, head string) error {
			_, err := r.Commit(ctx, head)
			return err
		},
		"ReadFile": func(ctx context.Context, r *Repository, _, head string) error {
			_, err := r.ReadFile(ctx, head, "app/config")
			return err
		},
		"FindFiles": func(ctx context.Context, r *Repository, _, head string) error {
			_, err := r.FindFiles(ctx, head, func(string) bool { return true })
			return err
		},
		"ChangedFiles": func(ctx context.Context, r *Repository, first, head string) error {
			_, err := r.ChangedFiles(ctx, first, head)
			return err
		},
		"LeftOut": func(ctx context.Context, r *Repository, _, head string) error {
			_, err := r.LeftOut(ctx, head, "app")
			return err
		},
		"Merge": func(ctx context.Context, r *Repository, first, head string) error {
			_, err := r.Merge(ctx, head, first, "main")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUserRepo(t)
			u.write("app/config", "1")
			first := u.commit("First")
			r := open(t, u.dir)
			_, err := r.Update(t.Context())
			require.NoError(t, err)
			u.write("app/config", "2")
			head := u.commit("Second")
			_, err = r.Update(t.Context())
			require.NoError(t, err)
			for _, revision := range []string{"HEAD", "HEAD:", "HEAD:app", "HEAD:app/config"} {
				cut(t, looseFile(u, r, revision), 5)
			}
			again, err := Open(t.Context(), r.options)
			require.NoError(t, err)
			require.NoError(t, read(t.Context(), again, first, head))
		})
	}
}

func TestWholeCommitsOfADamagedMirrorStayAlsoWithoutTheRemote(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("app/config", "1")
	first := u.commit("First")
	r := open(t, u.dir)
	_, err := r.Update(t.Context())
	require.NoError(t, err)
	u.write("app/config", "2")
	u.git("commit", "-q", "-a", "--amend", "-m", "Rewritten")
	u.git("reflog", "expire", "--expire=now", "--all")
	u.git("gc", "-q", "--prune=now")
	head, err := r.Update(t.Context())
	require.NoError(t, err)
	cut(t, looseFile(u, r, "HEAD:app"), 3)
	again, err := Open(t.Context(), r.options)
	require.NoError(t, err)
	for commit, want := range map[string]string{head.Hash: "2", first: "1"} {
		content, err := again.ReadFile(t.Context(), commit, "app/config")
		require.NoError(t, err)
		require.Equal(t, want, string(content))
	}
	require.Equal(t, uint64(1), again.repairer.repairs())
	u.fsck(t, again)
}

func TestADamagedRemoteIsNotTakenForADamagedMirror(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("app/config", "1")
	first := u.commit("First")
	r := open(t, u.dir)
	r.repairer.report = func(err error) { t.Errorf("the mirror is reported as damaged: %v", err) }
	_, err := r.Update(t.Context())
	require.NoError(t, err)
	u.write("app/config", "2")
	u.commit("Second")
	cut(
		t, loosePath(filepath.Join(u.dir, ".git", "objects"), plumbing.NewHash(u.git("rev-parse", "HEAD:app/config"))),
		5,
	)
	_, err = r.Update(t.Context())
	require.ErrorIs(t, err, ErrDamaged)
	require.Zero(t, r.repairer.repairs())
	_, err = r.ReadFile(t.Context(), first, "app/config")
	require.NoError(t, err, "the mirror keeps what it has")
}

func TestWhatIsDamagedInBothIsReportedAsDamageOfTheRemote(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("app/config", strings.Repeat("1", 100))
	head := u.commit("First")
	r := open(t, u.dir)
	_, err := r.Update(t.Context())
	require.NoError(t, err)
	cut(t, looseFile(u, r, "HEAD:app/config"), 5)
	cut(
		t, loosePath(filepath.Join(u.dir, ".git", "objects"), plumbing.NewHash(u.git("rev-parse", "HEAD:app/config"))),
		5,
	)
	again, err := Open(t.Context(), r.options)
	require.NoError(t, err)
	_, err = again.ReadFile(t.Context(), head, "app/config")
	require.ErrorIs(t, err, ErrNoCommit)
	_, err = again.Update(t.Context())
	require.ErrorIs(t, err, ErrDamaged)
}

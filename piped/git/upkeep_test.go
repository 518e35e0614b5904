// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// grown is a mirror of a server after so many fetches, and the commits.
func grown(t *testing.T, commits int, change func(u *userRepo, i int)) (u *userRepo, r *Repository, hashes []string) {
	t.Helper()
	u = newUserRepo(t)
	shell := serveSSH(t)
	r, err := Open(t.Context(), shell.options(t, "ssh://git@"+shell.address+u.dir))
	require.NoError(t, err)
	r.mirror.loads.every = 1 << 30
	for i := range commits {
		change(u, i)
		hashes = append(hashes, u.commit(fmt.Sprint(i)))
		_, err := r.Update(t.Context())
		require.NoError(t, err)
	}
	return u, r, hashes
}

func packsOf(t *testing.T, r *Repository) []packFile {
	t.Helper()
	packs, err := listPacks(r.mirror.packDir())
	require.NoError(t, err)
	return packs
}

func (u *userRepo) fsck(t *testing.T, r *Repository) {
	t.Helper()
	require.NotContains(t, u.git("--git-dir", r.options.Dir, "fsck", "--full", "--no-dangling"), "missing")
}

func TestSmallPacksArePutTogetherAndEveryCommitStays(t *testing.T) {
	t.Parallel()
	u, r, hashes := grown(t, 8, func(u *userRepo, i int) { u.write(fmt.Sprintf("d/%d", i), fmt.Sprint(i)) })
	draft(t, r, map[string]string{"d/1": "loose"})
	require.Len(t, packsOf(t, r), 8)
	r.cleaner.bounds.packs = 8
	_, err := r.cleaner.cleanUp(t.Context(), r.cleaner.bounds.prune)
	require.NoError(t, err)
	require.Len(t, packsOf(t, r), 8, "within the bounds nothing is done")

	r.cleaner.bounds.packs = 7
	// The mirror is read meanwhile.
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				_, err := r.ChangedFiles(t.Context(), hashes[0], hashes[7])
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	_, err = r.cleaner.cleanUp(t.Context(), r.cleaner.bounds.prune)
	stop()
	readers.Wait()
	require.NoError(t, err)
	require.Len(t, packsOf(t, r), 1)
	for i, hash := range hashes {
		content, err := r.ReadFile(t.Context(), hash, fmt.Sprintf("d/%d", i))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(i), string(content))
	}
	u.fsck(t, r)

	again, err := Open(t.Context(), r.options)
	require.NoError(t, err)
	_, err = again.ReadFile(t.Context(), hashes[3], "d/3")
	require.NoError(t, err)
	before := packsOf(t, again)[0]
	u.write("d/1", "more")
	next := u.commit("More")
	head, err := again.Update(t.Context())
	require.NoError(t, err)
	require.Equal(t, next, head.Hash, "the mirror goes on from what it has")
	objects, err := objectsOf(again.mirror.packDir(), newest(t, again, before))
	require.NoError(t, err)
	require.Len(t, objects, 4, "a commit, two trees and a file")
}

// newest is the pack that is not the other one.
func newest(t *testing.T, r *Repository, other packFile) plumbing.Hash {
	t.Helper()
	for _, pack := range packsOf(t, r) {
		if pack.id != other.id {
			return pack.id
		}
	}
	return other.id
}

func TestOldCommitsAreDroppedWhenTheMirrorIsLarge(t *testing.T) {
	t.Parallel()
	const size = 100_000
	u, r, hashes := grown(t, 8, func(u *userRepo, i int) {
		noise := make([]byte, size/2)
		_, _ = rand.Read(noise)
		u.write("noise", hex.EncodeToString(noise))
		u.write("small", fmt.Sprint(i))
		if i > 0 { // each is a force push
			u.git("update-ref", "-d", "HEAD")
		}
	})
	_, err := r.ReadFile(t.Context(), hashes[2], "small") // in use, as a deployed commit is
	require.NoError(t, err)
	u.git("reflog", "expire", "--expire=now", "--all")
	u.git("gc", "-q", "--prune=now")
	r.cleaner.bounds.keep = 2*size + size/2
	before, err := packedSize(r.mirror.packDir())
	require.NoError(t, err)
	after, err := r.cleaner.cleanUp(t.Context(), size)
	require.NoError(t, err)
	require.Less(t, after, before/2)
	require.Len(t, packsOf(t, r), 1)
	kept := 0
	for i, hash := range hashes {
		if r.mirror.has(plumbing.NewHash(hash)) {
			kept++
			_, err := r.Checkout(t.Context(), hash, filepath.Join(t.TempDir(), fmt.Sprint(i)))
			require.NoError(t, err, "what is kept is complete")
		}
	}
	require.Equal(t, 3, kept)
	require.True(t, r.mirror.has(plumbing.NewHash(hashes[7])), "the head")
	require.True(t, r.mirror.has(plumbing.NewHash(hashes[2])), "the one used last")
	require.True(t, r.mirror.has(plumbing.NewHash(hashes[6])), "the one used before")
	_, err = r.Commit(t.Context(), hashes[0])
	require.ErrorIs(t, err, ErrNoCommit)
	u.fsck(t, r)
}

func TestNothingIsDroppedThatWasUsedMeanwhile(t *testing.T) {
	t.Parallel()
	_, r, hashes := grown(t, 3, func(u *userRepo, i int) { u.write("a", fmt.Sprint(i)) })
	c := &cleaning{
		ctx: t.Context(), mirror: r.mirror, bounds: r.cleaner.bounds, from: newStorage(r.options.Dir, "objects"),
	}
	packs := packsOf(t, r)
	_, _, count := r.mirror.usage()
	require.True(t, r.mirror.use(plumbing.NewHash(hashes[0])))
	k := &keeper{c: c, has: map[plumbing.Hash]bool{}}
	_, err := k.commit(plumbing.NewHash(hashes[2]), -1)
	require.NoError(t, err)
	err = c.replace(packs, k.ids, func() error {
		return r.mirror.usedSince(count, map[plumbing.Hash]bool{plumbing.NewHash(hashes[2]): true})
	})
	require.ErrorContains(t, err, "used meanwhile")
	for _, hash := range hashes {
		_, err := r.ReadFile(t.Context(), hash, "a")
		require.NoError(t, err)
	}
}

func TestDroppingThatWasInterruptedIsFinished(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"killed": false, "power failure": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, r, hashes := grown(t, 3, func(u *userRepo, i int) {
				u.write("a", fmt.Sprint(i))
				u.write("d/same", "same")
			})
			draft(t, r, map[string]string{"a": "loose"})
			c := &cleaning{
				ctx: t.Context(), mirror: r.mirror, bounds: r.cleaner.bounds,
				from: newStorage(r.options.Dir, "objects"),
			}
			k := &keeper{c: c, has: map[plumbing.Hash]bool{}}
			_, err := k.commit(plumbing.NewHash(hashes[2]), -1)
			require.NoError(t, err)
			// One pack is removed, then it fails; the others stay.
			before := packsOf(t, r)
			err = c.replace(
				[]packFile{before[0], {id: plumbing.NewHash(hashes[0])}}, k.ids, func() error { return nil },
			)
			require.ErrorIs(t, err, os.ErrNotExist)
			kept, err := os.ReadFile(filepath.Join(r.options.Dir, pruningFile))
			require.NoError(t, err)
			if lost {
				require.NoError(t, truncate(filepath.Join(r.mirror.packDir(), packPrefix+string(kept)+packSuffix)))
			}

			again, err := Open(t.Context(), r.options)
			require.NoError(t, err)
			require.NoFileExists(t, filepath.Join(r.options.Dir, pruningFile))
			if !lost {
				packs := packsOf(t, again)
				require.Len(t, packs, 1)
				require.Equal(t, string(kept), packs[0].id.String())
				require.True(t, again.mirror.has(plumbing.NewHash(hashes[2])))
			}
			for i, hash := range hashes {
				content, err := again.ReadFile(t.Context(), hash, "a")
				require.NoError(t, err)
				require.Equal(t, fmt.Sprint(i), string(content))
			}
			u.fsck(t, again)
		})
	}
}

func TestTheMirrorIsCleanedUpByItself(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	r := open(t, u.dir)
	r.mirror.loads.every, r.cleaner.bounds.loose = 2, 10
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	for i := range 6 {
		u.write("a", fmt.Sprint(i))
		u.commit(fmt.Sprint(i))
		_, err := r.Update(t.Context())
		require.NoError(t, err)
	}
	require.Eventually(
		t, func() bool { packs, err := listPacks(r.mirror.packDir()); return err == nil && len(packs) > 0 },
		20*time.Second, time.Millisecond,
	)
	stop()
	require.NoError(t, <-done)
	u.fsck(t, r)
}

func TestWhatAKilledProcessHasLeftIsHarmless(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage       func(pack string) error
		fetchedAgain bool
	}{
		"a pack that was not complete": {damage: func(pack string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(pack), tmpPrefix+"1"), []byte("PACK"), 0o600)
		}},
		"an index whose pack has no name": {damage: func(pack string) error {
			return os.WriteFile(
				filepath.Join(filepath.Dir(pack), packPrefix+"0123456789012345678901234567890123456789.idx"),
				[]byte("half"), 0o600,
			)
		}},
		"an index that was to be removed": {
			damage: func(pack string) error { return os.Remove(pack + packSuffix) }, fetchedAgain: true,
		},
		"a pack cut off by a power failure": {
			damage: func(pack string) error { return truncate(pack + packSuffix) }, fetchedAgain: true,
		},
		"an index of zeros": {
			damage: func(pack string) error { return zeros(pack + idxSuffix) }, fetchedAgain: true,
		},
		"a pack without an index": {
			damage: func(pack string) error { return os.Remove(pack + idxSuffix) }, fetchedAgain: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, r, hashes := grown(t, 2, func(u *userRepo, i int) { u.write("a", fmt.Sprint(i)) })
			first := packsOf(t, r)[0]
			require.NoError(t, c.damage(filepath.Join(r.mirror.packDir(), packPrefix+first.id.String())))
			again, err := Open(t.Context(), r.options)
			require.NoError(t, err)
			if !c.fetchedAgain {
				require.Len(t, packsOf(t, again), 2)
			}
			for i, hash := range hashes {
				content, err := again.ReadFile(t.Context(), hash, "a")
				require.NoError(t, err)
				require.Equal(t, fmt.Sprint(i), string(content))
			}
			u.write("a", "more")
			next := u.commit("More")
			head, err := again.Update(t.Context())
			require.NoError(t, err)
			require.Equal(t, next, head.Hash)
			u.fsck(t, again)
			entries, err := os.ReadDir(again.mirror.packDir())
			require.NoError(t, err)
			require.Len(t, entries, 2*len(packsOf(t, again)))
		})
	}
}

func TestAHistoryThatIsDamagedOrInManyPacksIsFetchedAgain(t *testing.T) {
	t.Parallel()
	u, r, hashes := grown(t, 2, func(u *userRepo, i int) { u.write("a", fmt.Sprint(i)) })
	u.git("checkout", "-q", "-b", "feature")
	merge := func() {
		t.Helper()
		u.write("b", rand.Text())
		feature := u.commit("Feature")
		merged, err := r.Merge(t.Context(), hashes[1], feature, "feature")
		require.NoError(t, err)
		require.Equal(t, feature, merged.Hash)
	}
	merge()
	merge()
	dir := filepath.Join(r.options.Dir+".history", "objects", "pack")
	packs, err := listPacks(dir)
	require.NoError(t, err)
	require.Len(t, packs, 3, "one of main, two of feature")
	require.NoError(t, truncate(filepath.Join(dir, packPrefix+packs[0].id.String()+packSuffix)))
	merge()
	packs, err = listPacks(dir)
	require.NoError(t, err)
	require.Len(t, packs, 2)

	content, err := os.ReadFile(filepath.Join(dir, packPrefix+packs[0].id.String()+packSuffix))
	require.NoError(t, err)
	for i := range maxHistoryPacks {
		require.NoError(
			t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s%040x%s", packPrefix, i+1, packSuffix)), content, 0o600),
		)
	}
	merge()
	packs, err = listPacks(dir)
	require.NoError(t, err)
	require.Len(t, packs, 2)
}

func truncate(name string) error {
	if err := os.Chmod(name, 0o600); err != nil {
		return err
	}
	return os.Truncate(name, 40)
}

func zeros(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if err := os.Chmod(name, 0o600); err != nil {
		return err
	}
	return os.WriteFile(name, make([]byte, info.Size()), 0o600)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARepositoryThatBorrowsObjectsIsMirrored(t *testing.T) {
	t.Parallel()
	for name, pack := range map[string]bool{"loose objects": false, "packed objects": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lender := newUserRepo(t)
			for i := range packFrom + 10 {
				lender.write(fmt.Sprintf("many/%d", i), fmt.Sprint(i))
			}
			lender.commit("First")
			if pack {
				lender.git("gc", "-q")
			}
			middle := filepath.Join(t.TempDir(), "middle")
			lender.git("clone", "-q", "--shared", lender.dir, middle)
			dir := filepath.Join(t.TempDir(), "borrower")
			lender.git("clone", "-q", "--shared", middle, dir)
			borrower := &userRepo{t: t, dir: dir}
			borrower.write("new", "new")
			head := borrower.commit("Upon it")
			require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", alternates),
				[]byte("# lenders\n\n../../nowhere/objects\n"+filepath.Join(middle, ".git", "objects")+"\n"), 0o644))

			r := open(t, dir)
			_, err := r.Update(t.Context())
			require.NoError(t, err)
			require.NoError(t, os.RemoveAll(lender.dir))
			for file, want := range map[string]string{"many/7": "7", "new": "new"} {
				content, err := r.ReadFile(t.Context(), head, file)
				require.NoError(t, err)
				require.Equal(t, want, string(content))
			}
		})
	}
}

func TestRepositoriesThatBorrowInACircleAreRead(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	u.commit("First")
	other := newUserRepo(t)
	for _, pair := range [][2]*userRepo{{u, other}, {other, u}} {
		require.NoError(
			t,
			os.WriteFile(
				filepath.Join(pair[0].dir, ".git", alternates),
				[]byte(filepath.Join(pair[1].dir, ".git", "objects")+"\n"), 0o644,
			),
		)
	}
	_, err := open(t, u.dir).Update(t.Context())
	require.NoError(t, err)
}

func TestTheChainOfLendersIsBounded(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	head := u.commit("First")
	last := u.dir
	for range maxAlternates + 1 {
		next := newUserRepo(t)
		require.NoError(
			t,
			os.WriteFile(
				filepath.Join(next.dir, ".git", alternates), []byte(filepath.Join(last, ".git", "objects")+"\n"), 0o644,
			),
		)
		last = next.dir
	}
	ref := filepath.Join(last, ".git", "refs", "heads", "main")
	require.NoError(t, os.WriteFile(ref, []byte(head+"\n"), 0o644))
	_, err := open(t, last).Update(t.Context())
	require.ErrorContains(t, err, "object not found", "one repository too far")
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACommitIsFoundInTheHistoryOfTheBranchByTheBeginningOfItsHash(t *testing.T) {
	t.Parallel()
	u, main, feature := branches(t, map[string]string{"app/a": "1\n"}, map[string]string{"app/a": "2\n"},
		map[string]string{"app/a": "3\n"})
	base := u.git("rev-parse", "main~1")
	for name, remote := range map[string]string{"on this machine": u.dir, "on a server": "file://" + u.dir} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := open(t, remote)
			head, err := r.Update(t.Context())
			require.NoError(t, err)
			for _, prefix := range []string{base, base[:12], strings.ToUpper(base[:12])} {
				found, err := r.Ancestor(t.Context(), head.Hash, prefix)
				require.NoError(t, err, prefix)
				require.Equal(t, base, found.Hash)
				require.Equal(t, "base", found.Subject)
			}
			content, err := r.ReadFile(t.Context(), base, "app/a")
			require.NoError(t, err, "its files are in the mirror")
			require.Equal(t, "1\n", string(content))
			found, err := r.Ancestor(t.Context(), head.Hash, main)
			require.NoError(t, err)
			require.Equal(t, main, found.Hash)

			_, err = r.Ancestor(t.Context(), head.Hash, feature)
			require.ErrorIs(t, err, ErrNoCommit)
			require.ErrorContains(t, err, `"`+feature+`" is not in the history of branch main`)
			_, err = r.Ancestor(t.Context(), head.Hash, "")
			require.ErrorIs(t, err, ErrAmbiguous)
		})
	}
}

func TestAShallowCloneSaysThatItsHistoryIsIncomplete(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1\n")
	first := u.commit("first")
	u.write("a", "2\n")
	second := u.commit("second")
	shallow := filepath.Join(t.TempDir(), "shallow")
	u.git("clone", "-q", "--depth=1", "file://"+u.dir, shallow)
	r := open(t, shallow)
	head, err := r.Update(t.Context())
	require.NoError(t, err)
	_, err = r.Ancestor(t.Context(), head.Hash, first)
	require.ErrorIs(t, err, ErrNoHistory)
	require.ErrorContains(t, err, "git fetch --unshallow")
	found, err := r.Ancestor(t.Context(), head.Hash, second[:10])
	require.NoError(t, err)
	require.Equal(t, second, found.Hash)
}

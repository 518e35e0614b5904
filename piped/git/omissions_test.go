// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsNotInGitIsFoundInAnApplication(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	pointer := lfsPointer + "oid sha256:" + strings.Repeat("a", 64) + "\nsize 12345\n"
	u.write("web/.gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
	u.write("web/deep/er/model.bin", pointer)
	u.write("web/deep/er/text.bin", "not a pointer, and long enough to be taken for one at first sight")
	u.write("web/large.bin", pointer+strings.Repeat("x", maxPointer))
	u.write("plain/quoted.txt", pointer)
	u.write("clean/a", "1")
	u.git("add", "-A")
	u.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",web/vendor/module")
	u.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",other")
	u.git("commit", "-q", "-m", "All")
	head := u.git("rev-parse", "HEAD")
	r := open(t, u.dir)
	for dir, want := range map[string][]LeftOut{
		"web":              {{"web/deep/er/model.bin", lfsReason}, {"web/vendor/module", submoduleReason}},
		"web/deep":         {{"web/deep/er/model.bin", lfsReason}},
		"web/vendor":       {{"web/vendor/module", submoduleReason}},
		"other":            {{"other", submoduleReason}},
		"other/within":     {{"other", submoduleReason}},
		"plain":            nil,
		"clean":            nil,
		"web/deep/../deep": {{"web/deep/er/model.bin", lfsReason}},
		".": {
			{"other", submoduleReason}, {"web/deep/er/model.bin", lfsReason}, {"web/vendor/module", submoduleReason},
		},
	} {
		found, err := r.LeftOut(t.Context(), head, dir)
		require.NoError(t, err, dir)
		require.Equal(t, want, found, dir)
	}
	_, err := r.LeftOut(t.Context(), head, "none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = r.LeftOut(t.Context(), strings.Repeat("1", 40), ".")
	require.ErrorIs(t, err, ErrNoCommit)
}

func TestTheSearchForWhatIsNotInGitIsBounded(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write(".gitattributes", "* filter=lfs\n")
	pointer := lfsPointer + "oid sha256:" + strings.Repeat("a", 64) + "\nsize 1\n"
	for i := range maxLeftOut + 1 {
		u.write(fmt.Sprintf("many/%d", i), pointer)
	}
	for i := range maxPointers + 1 {
		u.write(fmt.Sprintf("small/%d", i), strings.Repeat("x", 100))
	}
	u.write("small/x", pointer)
	// The filter itself is not installed: Git writes the files as they are.
	u.git("-c", "filter.lfs.required=false", "add", "-A")
	u.git("commit", "-q", "-m", "All")
	head := u.git("rev-parse", "HEAD")
	r := open(t, u.dir)
	found, err := r.LeftOut(t.Context(), head, "many")
	require.NoError(t, err)
	require.Len(t, found, maxLeftOut)
	found, err = r.LeftOut(t.Context(), head, "small")
	require.NoError(t, err)
	require.Empty(t, found)
}

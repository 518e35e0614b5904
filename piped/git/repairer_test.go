// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

func TestOnlyADamagedMirrorIsRepairedAndOnlyOnce(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	u.commit("First")
	r := open(t, u.dir)
	head, err := r.Update(t.Context())
	require.NoError(t, err)
	damage := readError("object", plumbing.NewHash(head.Hash), errors.New("zlib: invalid checksum"))
	for name, other := range map[string]error{
		"none":                         nil,
		"of another cause":             errors.New("no such file in the commit"),
		"of a system that cannot read": readError("object", plumbing.ZeroHash, fmt.Errorf("open: %w", syscall.EMFILE)),
	} {
		require.Equal(t, other, r.repairer.repair(t.Context(), r.repairer.repairs(), other), name)
	}
	require.Zero(t, r.repairer.repairs())

	seen := r.repairer.repairs()
	require.ErrorIs(t, r.repairer.repair(t.Context(), seen, damage), ErrRepaired)
	require.ErrorIs(t, r.repairer.repair(t.Context(), seen, damage), ErrRepaired, "by another caller")
	require.Equal(t, uint64(1), r.repairer.repairs())
	require.NoDirExists(t, r.mirror.dir+"/"+damagedFolder)
	content, err := r.ReadFile(t.Context(), head.Hash, "a")
	require.NoError(t, err)
	require.Equal(t, "1", string(content), "what was whole is kept")

	err = r.repairer.repair(t.Context(), r.repairer.repairs(), damage)
	require.ErrorIs(t, err, ErrDamaged, "the same object is damaged again: it is the remote")
	require.NotErrorIs(t, err, os.ErrNotExist)
}

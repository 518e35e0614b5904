// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxUses bounds the commits that are remembered as used.
const maxUses = 4096

// uses remembers which commits were used last. The zero value is ready.
type uses struct {
	// at numbers the last use of each commit.
	at map[plumbing.Hash]uint64
	// count is the number of the last use of any.
	count uint64
}

func (u *uses) add(id plumbing.Hash) {
	if u.at == nil {
		u.at = map[plumbing.Hash]uint64{}
	}
	u.count++
	u.at[id] = u.count
	if len(u.at) > maxUses {
		for _, old := range u.newest(len(u.at))[maxUses/2:] {
			delete(u.at, old)
		}
	}
}

// newest are at most n commits, the one used last first.
func (u *uses) newest(n int) []plumbing.Hash {
	list := make([]plumbing.Hash, 0, len(u.at))
	for id := range u.at {
		list = append(list, id)
	}
	slices.SortFunc(list, func(a, b plumbing.Hash) int {
		if u.at[a] > u.at[b] {
			return -1
		}
		return 1
	})
	return list[:min(n, len(list))]
}

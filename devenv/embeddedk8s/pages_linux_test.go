// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyUnchangedPagesOfTheProgramAreGivenBack(t *testing.T) {
	t.Parallel()
	const mappings = `00400000-00402000 r--p 00000000 08:01 42   /bin/program
Size:                  8 kB
Anonymous:             0 kB
00402000-00403000 r--p 00002000 08:01 42   /bin/program
Anonymous:             4 kB
00403000-00404000 rw-p 00003000 08:01 42   /bin/program
Anonymous:             0 kB
00404000-00408000 r-xp 00004000 08:01 42   /bin/program
Anonymous:             0 kB
00408000-00409000 r-xp 00004000 08:01 43   /lib/other
Anonymous:             0 kB
7ffd0000-7ffd1000 r-xp 00000000 00:00 0    [vdso]
Anonymous:             0 kB
`
	require.Equal(t, []mapping{{0x400000, 0x402000}, {0x404000, 0x408000}}, unchanged(mappings, "/bin/program"))
}

func TestTheProgramGoesOnWithoutItsPages(t *testing.T) {
	t.Parallel()
	require.NoError(t, returnProgramPages())
}

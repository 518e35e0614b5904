// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheUseOfAProcessIsRead(t *testing.T) {
	t.Parallel()
	now, ok := parseStat(
		[]byte(
			"7 (a name) with ) brackets) S 1 7 7 0 -1 4194560 1 0 0 0 250 150 0 0 20 0 12 0 100 1000000 2048 " +
				"18446744073709551615 1",
		),
	)
	require.True(t, ok)
	require.Equal(t, usage{rss: 2048 * uint64(os.Getpagesize()), threads: 12, seconds: 4}, now)
	_, ok = parseStat([]byte("7 (a) S 1 7"))
	require.False(t, ok)
	_, ok = look(0)
	require.False(t, ok, "there is no such process")

	file, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer file.Close()
	own, ok := look(int32(os.Getpid()))
	require.True(t, ok)
	require.Greater(t, own.rss, uint64(1<<20))
	require.GreaterOrEqual(t, int(own.files), 4)
	require.GreaterOrEqual(t, int(own.threads), 2)
	runtime.KeepAlive(file)
}

func BenchmarkLook(b *testing.B) {
	for b.Loop() {
		look(int32(os.Getpid()))
	}
}

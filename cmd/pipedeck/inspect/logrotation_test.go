// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/owned"
)

func TestAFollowedLogIsPrintedAcrossItsRotation(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "wait.log")
	log, err := owned.OpenLog(path, 300)
	require.NoError(t, err)
	defer log.Close()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewReader(file)
	var printed, written strings.Builder
	for n := range 100 {
		line := fmt.Sprintf("line %02d\n", n)
		written.WriteString(line)
		_, err := log.Write([]byte(line))
		require.NoError(t, err)
		if n%20 == 0 { // so some lines are read after they were moved away
			require.NoError(t, printLines(&printed, lines))
			require.NoError(t, printRotated(&printed, file, lines))
		}
	}
	require.NoError(t, printLines(&printed, lines))
	require.NoError(t, printRotated(&printed, file, lines))
	require.Equal(t, written.String(), printed.String())
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyTheSystemIsAskedAgainForAFile(t *testing.T) {
	t.Parallel()
	_, refused := os.ReadDir("/dev/null")
	require.True(t, isOfSystem(fmt.Errorf("read app.pipecd.yaml: %w", refused)))
	require.True(t, isOfSystem(&fs.PathError{Op: "open", Path: "pack", Err: syscall.EMFILE}))
	require.False(t, isOfSystem(errors.New("the file is larger than 1 MiB")))
	require.False(t, isOfSystem(nil))
}

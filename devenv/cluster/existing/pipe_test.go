// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package existing

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAKubeconfigThatIsANamedPipeIsRefused(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err := Find(pipe, "")
	require.EqualError(t, err, "read the kubeconfig: open "+pipe+": it is a named pipe, not a regular file")
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Names and messages in Git are bytes; the control plane takes text alone, and refuses the whole call otherwise.
func TestNamesAndMessagesThatAreNoTextHoldUpNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	// By Git's own programs: not every file system has such names.
	w.commit("Add")
	config := w.git("rev-parse", "HEAD:web/app.pipecd.yaml")
	w.git("update-index", "--add", "--cacheinfo", "100644,"+config+",caf\xe9/app.pipecd.yaml")
	message := filepath.Join(t.TempDir(), "message")
	require.NoError(t, os.WriteFile(message, []byte("Gr\xfc\xdfe\n\nAus M\xfcnchen\n"), 0o600))
	w.git("-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-F", message)
	w.start()
	d := w.awaitDeployment(1)
	require.Equal(t, "web", d.GetApplicationName())
	require.Contains(t, d.GetTrigger().GetCommit().GetMessage(), "Grüße")
}

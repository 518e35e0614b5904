// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
)

func TestTheContextOfBeforeIsCurrentAgainWhereNoneIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ now, before, want string }{
		"it is there":               {"", "mine", "mine"},
		"it has gone":               {"", "other", ""},
		"there was none":            {"", "", ""},
		"the user has chosen since": {"second", "mine", "second"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "config")
			require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://192.0.2.1"}}]
users: [{name: u, user: {token: secret}}]
contexts: [{name: mine, context: {cluster: c, user: u}}, {name: second, context: {cluster: c, user: u}}]
current-context: %q
`, c.now), 0o600))
			before, err := clientcmd.LoadFromFile(file)
			require.NoError(t, err)
			require.NoError(t, restoreContext(file, c.before))
			require.Equal(t, c.want, currentContext(file))
			after, err := clientcmd.LoadFromFile(file)
			require.NoError(t, err)
			require.Equal(t, before.Contexts, after.Contexts)
			require.Equal(t, before.AuthInfos, after.AuthInfos)
		})
	}
	require.Empty(t, currentContext(filepath.Join(t.TempDir(), "missing")))
}

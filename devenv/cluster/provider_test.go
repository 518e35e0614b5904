// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryProviderHasTheSameFiles(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"embedded", "existing", "kind"} {
		for file, declares := range map[string]string{
			"doc.go": "package " + provider, "provider.go": ") Describe(", "run.go": ") Run(",
			"images.go": ") LoadImage(", "remove.go": ") Delete(",
		} {
			content, err := os.ReadFile(filepath.Join(provider, file))
			require.NoError(t, err)
			require.True(t, strings.Contains(string(content), declares), "%s/%s has no %q", provider, file, declares)
		}
	}
}

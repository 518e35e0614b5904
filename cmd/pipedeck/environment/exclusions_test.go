// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestApplicationsAreExcludedByLabelDirectoryFileAndGlob(t *testing.T) {
	t.Parallel()
	web := &workspace.Checked{File: "apps/web/app.pipecd.yaml", Labels: map[string]string{"team": "a=b", "empty": ""}}
	for given, want := range map[string]bool{
		"label:team=a=b": true, "label:team=a": false, "label:empty=": true, "label:other=": false,
		"apps/web": true, "./apps/": true, "apps/we": false, "apps/web/app.pipecd.yaml": true, "apps/*": false,
		"path:apps/*": true, "path:*/web": true, "path:**/web": true, "path:*": true, "path:?pps": true,
		"path:web": false, "path:apps/w?b/*.yaml": true, "path:apps/[w]eb": false,
		"path:**/*.pipecd.yaml": true, ".": true,
	} {
		list, err := readExclusions([]string{given})
		require.NoError(t, err, given)
		require.Equal(t, want, list.name(web), given)
		require.Equal(t, !want, len(list.unused()) == 1, given)
	}
	for _, given := range []string{"", "label:", "label:=x", "label:key", "path:", "/abs", "../other",
		"path:a/../../b"} {
		_, err := readExclusions([]string{given})
		require.Error(t, err, given)
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEventWatcherFilesAreRead(t *testing.T) {
	t.Parallel()
	file, err := ParseEventWatcher([]byte(`apiVersion: pipecd.dev/v1beta1
kind: EventWatcher
spec:
  events:
    - name: image
      labels: {app: shop}
      replacements:
        - {file: shop/deployment.yaml, yamlField: "$.spec"}
`), "e.yaml")
	require.NoError(t, err)
	require.Equal(t, []EventWatcherEntry{{
		Name: "image", Labels: map[string]string{"app": "shop"},
		Replacements: []EventReplacement{{File: "shop/deployment.yaml", YAMLField: "$.spec"}},
	}}, file.Events)

	_, err = ParseEventWatcher([]byte("apiVersion: pipecd.dev/v1beta1\nkind: EventWatcher\nspec:\n  events:\n"+
		"    - replacements: [{file: a}, {file: b, regex: '('}]\n"), "e.yaml")
	require.ErrorContains(t, err, "spec.events[0].name: is required")
	require.ErrorContains(t, err, "replacements[0]: needs one of")
	require.ErrorContains(t, err, "replacements[1].regex")
	_, err = ParseEventWatcher([]byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec: {}\n"), "e.yaml")
	require.ErrorContains(t, err, "want EventWatcher")
}

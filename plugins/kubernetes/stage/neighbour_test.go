// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABrokenConfigurationIsNamedWithItsPlaceInOneLine(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"no YAML": {
			"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: [b33\n",
			"b33/app.pipecd.yaml:4:9: not valid YAML: sequence end token ']' not found",
		},
		"a tab": {
			"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n\tname: b33\n",
			"b33/app.pipecd.yaml:4:1: not valid YAML: a line begins with a tab: want blanks, which are the only " +
				"indentation of YAML",
		},
		"another type": {
			"kind: Application\nspec:\n  labels: [a]\n",
			"b33/app.pipecd.yaml:3:11: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := neighbourOf("/repository", "b33/app.pipecd.yaml", []byte(tt.text))
			require.Error(t, n.invalid)
			require.Contains(t, n.invalid.Error(), tt.want)
			require.NotContains(t, n.invalid.Error(), "\n")
			require.NotContains(t, n.invalid.Error(), "|")
		})
	}
}

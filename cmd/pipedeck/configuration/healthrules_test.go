// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

func TestRulesOfHealthAreCompiled(t *testing.T) {
	t.Parallel()
	const piped = `apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: p
  pipedID: id
  pipedKeyData: a2V5
  apiAddress: localhost:8080
  plugins:
    - name: NAME
      url: file:///kubernetes
      port: 7001
      config:
        health:
`
	for name, c := range map[string]struct{ rules, want string }{
		"good rules": {`          - {group: example.com, kind: Widget, cel: 'object.status.phase'}
          - {group: example.com, kind: Gadget, lua: 'return {status = "Healthy"}'}
`, "0 errors, 0 warnings"},
		"a wrong expression": {`          - group: example.com
            kind: Widget
            cel: |
              has(object.status) ?
                objet.status.phase : 'Progressing'
`, "piped.yaml:16:18: error: spec.plugins[0].config.health[0].cel: line 2, column 3: undeclared reference to " +
			"'objet'\n"},
		"a wrong script": {`          - {group: example.com, kind: Gadget, lua: 'return {'}
`, "piped.yaml:14:53: error: spec.plugins[0].config.health[0].lua: "},
		"both": {`          - {group: example.com, kind: Gadget, lua: 'return', cel: 'null'}
`, "piped.yaml:14:53: error: spec.plugins[0].config.health[0].lua: cannot be given with cel"},
		"neither": {`          - {group: example.com, kind: Gadget}
`, "piped.yaml:14:13: error: spec.plugins[0].config.health[0].cel: must be given, or lua"},
		"a slip": {`          - {group: example.com, kind: Gadget, cell: 'null'}
`, "unknown key \"cell\""},
	} {
		for _, plugin := range []string{"kubernetes", "kubernetes_multicluster"} {
			t.Run(name+" of "+plugin, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "piped.yaml")
				require.NoError(t, os.WriteFile(file,
					[]byte(strings.Replace(piped, "NAME", plugin, 1)+c.rules), 0o600))
				code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", file)
				require.Contains(t, stdout, c.want)
				if name == "good rules" {
					require.Zero(t, code, stderr)
				} else {
					require.Equal(t, exit.WrongUsage, code, stderr)
				}
			})
		}
	}
}

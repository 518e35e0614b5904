// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/system/filetest"
)

func TestAChartSeesTheKindsThatItDefines(t *testing.T) {
	t.Parallel()
	definition := func(group string) string {
		return "kind: CustomResourceDefinition\nspec:\n  group: " + group + "\n  names: {kind: Gizmo}\n" +
			"  versions: [{name: v1, served: true}, {name: v0, served: false}]\n"
	}
	ask := `a: "{{ range list "one.example/v1" "one.example/v1/Gizmo" "one.example/v0" "two.example/v1/Gizmo" ` +
		`"three.example/v1/Gizmo" }}{{ if $.Capabilities.APIVersions.Has . }}{{ . }} {{ end }}{{ end }}"`
	both(t, func(t *testing.T, c *helm.Charts) {
		cluster := &fakeCluster{able: helm.Capabilities{KubeVersion: "v1.31.4", APIVersions: []string{"v1"}}}
		req := seesCluster(t, cluster)
		filetest.Write(t, req.Tree.Root(), map[string]string{
			"charts/keeper/crds/all.yaml": definition("one.example") + "---\n" + definition("two.example") +
				"---\nkind: Other\n---\n{",
			"charts/keeper/templates/more.yaml": ask,
		})
		got, err := c.Render(t.Context(), req)
		require.NoError(t, err)
		require.Contains(t, text(got), `a: "one.example/v1 one.example/v1/Gizmo two.example/v1/Gizmo "`)
		require.Equal(t, []string{"v1"}, cluster.able.APIVersions)

		req.Cluster = nil
		got, err = c.Render(t.Context(), req)
		require.NoError(t, err)
		require.Contains(t, text(got), `a: ""`, "as helm template")
	})
}

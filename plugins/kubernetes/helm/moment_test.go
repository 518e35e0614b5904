// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/system/filetest"
)

func TestAChartKnowsWhetherItIsInstalledOrUpgraded(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *helm.Charts) {
		for want, moment := range map[string]helm.Moment{
			"install=true upgrade=false revision=1": {},
			"install=false upgrade=true revision=2": {Upgrade: true},
			"install=false upgrade=true revision=7": {Upgrade: true, Revision: 7},
			"install=true upgrade=false revision=3": {Revision: 3},
		} {
			req := request(t, application(t))
			filetest.Write(t, req.Tree.Root(), map[string]string{"charts/web/templates/moment.yaml": `a: "install=` +
				`{{ .Release.IsInstall }} upgrade={{ .Release.IsUpgrade }} revision={{ .Release.Revision }}"`})
			req.Moment = moment
			got, err := c.Render(t.Context(), req)
			require.NoError(t, err)
			require.Contains(t, text(got), want)
			require.True(t, got.ReadsMoment)
		}
	})
}

func TestOnlyAChartThatReadsItsMomentDependsOnIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, text string
		want       bool
	}{
		"nothing reads it":       {"more.yaml", "a: {{ .Release.Name }}", false},
		"another word":           {"more.yaml", "revisionHistoryLimit: 3", false},
		"a helper":               {"_more.tpl", `{{ define "x" }}{{ .Release.IsUpgrade }}{{ end }}`, true},
		"a dependency":           {"../charts/store/templates/x.yaml", "a: {{ .Release.Revision }}", true},
		"a file for tpl":         {"../more.txt", "{{ .Release.IsInstall }}", true},
		"a file that only talks": {"../more.txt", "Revision", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := request(t, application(t))
			filetest.Write(t, req.Tree.Root(), map[string]string{"charts/web/templates/" + c.file: c.text})
			got, err := render(t, req)
			require.NoError(t, err)
			require.Equal(t, c.want, got.ReadsMoment)
		})
	}
	req := request(t, application(t))
	req.Options.Values = map[string]any{"x": []any{"{{ .Release.IsInstall }}"}}
	got, err := render(t, req)
	require.NoError(t, err)
	require.True(t, got.ReadsMoment, "a value for tpl")
}

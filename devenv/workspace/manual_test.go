// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
)

func TestApplicationsThatOnlyUsersDeployAreNamed(t *testing.T) {
	t.Parallel()
	report := func(name, spec string) *config.Report {
		application, err := config.ParseApplication([]byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n"+
			"  name: "+name+"\n  plugins: {p: {}}\n"+spec), name+"/app.pipecd.yaml")
		require.NoError(t, err)
		return &config.Report{Application: application}
	}
	const off = "  trigger: {onCommit: {disabled: true}"
	reports := []*config.Report{
		report("web", ""), report("manual", off+"}\n"), report("drift", off+", onOutOfSync: {disabled: false}}\n"),
		report("member", off+", onChain: {disabled: false}}\n"),
	}
	require.Equal(t, []string{"manual", "member"}, manual(reports), "there is no chain")
	reports = append(reports, report("first", "  postSync: {chain: {applications: [{name: member}]}}\n"))
	require.Equal(t, []string{"manual"}, manual(reports), "a chain may ask for the member")
}

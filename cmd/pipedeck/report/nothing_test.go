// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARunWithNothingToDeploySaysSoInEveryForm(t *testing.T) {
	t.Parallel()
	const words = "nothing to deploy: origin/main..HEAD touches no application"
	run := Run{Schema: Schema, NothingToDeploy: true, Reason: words,
		Applications: []Application{{Name: "web", File: "web/app.pipecd.yaml", Result: Unchanged}}}
	var table, sentences, annotations bytes.Buffer
	require.NoError(t, Table(&table, run, 100))
	require.Contains(t, table.String(), "\n"+words+"; 1 application: 1 UNCHANGED in 0.0s\n")
	require.NoError(t, Sentences(&sentences, run))
	require.Contains(t, sentences.String(), "\n"+words+"; 1 application: 1 UNCHANGED.\n")
	require.NoError(t, Annotations(&annotations, run, ""))
	require.Equal(t, "::notice title=pipedeck ci::"+words+"\n", annotations.String())
	require.Contains(t, string(Markdown(run)), "### ✅ pipedeck ci: nothing to deploy: ")
	junit, err := JUnit(run)
	require.NoError(t, err)
	require.Contains(t, string(junit), `<property name="nothing_to_deploy" value="true">`)
	require.Contains(t, string(junit), `<property name="reason" value="`+words+`">`)
	machine, err := JSON(run)
	require.NoError(t, err)
	require.Contains(t, string(machine), `"nothing_to_deploy": true`)
}

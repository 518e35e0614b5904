// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

func TestUpAndCIRefuseKeysThatNothingReads(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		clitest.GoodApplication +
			"  lables: {a: b}\n": `app.pipecd.yaml:6:3: spec.lables: unknown key "lables" is not read; ` +
			`did you mean "labels"?`,
		"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n" +
			"  pipeline: {stages: [{name: WIAT}]}\n": `:5:30: ` +
			`spec.pipeline.stages[0].name: no plugin in the plugins of this environment has the stage "WIAT"; ` +
			`did you mean "WAIT"?`,
		"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n" +
			"  pipeline: {stages: [{name: WAIT_APPROVAL, with: {approvers: [ann], minApproverNum: 3}}]}\n": `:5:86: ` +
			`spec.pipeline.stages[0].with.minApproverNum: 3 is more than approvers has: 1 entry`,
		clitest.GoodApplication + "  postSync: {chain: {applications: [{name: web}]}}\n": "is this application itself",
	} {
		nothing, err := exec.LookPath("true")
		require.NoError(t, err)
		args := []string{clitest.Repository(t, text), "--cluster", "none", "--name", "test", "--output", "plain",
			"--piped", nothing}
		for _, name := range []string{"wait", "waitapproval", "scriptrun"} {
			schema, err := filepath.Abs(filepath.Join("../../../plugins", name, "schema.json"))
			require.NoError(t, err)
			args = append(args, "--plugin", name+"="+clitest.PrintingPlugin(t, schema))
		}
		for _, name := range []string{"up", "ci"} {
			code, _, stderr := command(t.Context(), filepath.Join(t.TempDir(), "state"),
				append([]string{name}, args...)...)
			require.Equal(t, exit.WrongUsage, code, stderr)
			require.Contains(t, stderr, says)
			require.Contains(t, stderr, "next step: correct the file, commit it, and run again")
		}
	}
}

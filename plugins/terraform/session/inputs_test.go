// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/terraform/config"
)

func TestAVarFileThatDoesNotExistIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "there.tfvars"), nil, 0o600))
	app := &config.Application{VarFiles: []string{"there.tfvars", filepath.Join(dir, "there.tfvars")}}
	require.NoError(t, checkInputs(dir, app))
	app.VarFiles = append(app.VarFiles, "gone.tfvars")
	require.EqualError(t, checkInputs(dir, app), "the file gone.tfvars of spec.plugins.terraform.varFiles does not "+
		"exist\nnext step: commit it below the directory of the application, or correct its path")
}

func TestAFlagOfApplyThatWouldBeIgnoredIsRefused(t *testing.T) {
	t.Parallel()
	app := &config.Application{}
	app.CommandFlags.Apply = []string{"-parallelism=3", "-target=a.b"}
	require.ErrorContains(t, checkInputs("", app), "commandFlags.apply has -target=a.b, which chooses what to plan")
	app.CommandFlags.Plan = []string{"-target=a.b"}
	require.NoError(t, checkInputs("", app), "PipeCD needs it in both")
	app.CommandFlags.Plan, app.CommandFlags.Apply = nil, []string{"--replace=a.b"}
	require.ErrorContains(t, checkInputs("", app), "move the flag to commandFlags.plan")
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAStateOfResourcesThatExistElsewhereIsLeft(t *testing.T) {
	t.Parallel()
	const own = `{"version":4,"resources":[{"mode":"managed","type":"terraform_data",` +
		`"provider":"provider[\"terraform.io/builtin/terraform\"]"},` +
		`{"mode":"data","provider":"provider[\"x/y/aws\"]"}]}`
	const elsewhere = `{"version":4,"resources":[{"mode":"managed","provider":"provider[\"x/y/aws\"]"}]}`
	w := filled(t)
	write := func(name, content string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(w.Path(name)), 0o700))
		require.NoError(t, os.WriteFile(w.Path(name), []byte(content), 0o600))
	}
	write("terraform/app-1/local/terraform.tfstate", own)
	write("terraform/app-1/local/terraform.tfstate.backup", own)
	write("terraform/app-1/local/workspaces/staging/terraform.tfstate", own)
	write("terraform/app-2/local/terraform.tfstate", elsewhere)
	write("terraform/app-3/local/terraform.tfstate", "damaged")

	var left *LeftError
	require.ErrorAs(t, remove(t, w), &left)
	require.Equal(t, []string{"terraform/app-2/local/terraform.tfstate", "terraform/app-3/local/terraform.tfstate"},
		left.Names)
	require.True(t, left.OnlyStates())
	require.ErrorContains(t, left, "holds Terraform states of resources that exist; left as they are: ")
	require.NoDirExists(t, w.Path("terraform/app-1"))

	write("terraform/app-2/local/terraform.tfstate", own)
	write("terraform/app-3/local/terraform.tfstate", `{"version":4,"resources":[]}`)
	require.NoError(t, remove(t, w))
	require.NoDirExists(t, w.Dir)
}

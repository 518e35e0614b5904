// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/gittest"
)

func TestApplicationsInFilesThatPipedDoesNotFindAreNamed(t *testing.T) {
	t.Parallel()
	const application = "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec: {name: web}\n"
	dir := gittest.Init(t)
	for _, name := range []string{"web/app.pipecd.yml", "db/app.yaml", "good/app.pipecd.yaml", "lib/values.yaml"} {
		gittest.Write(t, dir, name, application)
	}
	gittest.Write(t, dir, "other/app.yaml", "kind: Application\n")
	gittest.Commit(t, dir, "commit")
	repository, err := OpenRepository(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"good/app.pipecd.yaml"}, repository.Applications)
	misnamed, err := repository.Misnamed()
	require.NoError(t, err)
	require.Equal(t, []string{"db/app.yaml", "web/app.pipecd.yml"}, misnamed)
}

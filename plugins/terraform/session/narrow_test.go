// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/terraform/config"
)

func TestFlagsThatNarrowAPlanAreFoundWhereverTheyAre(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		app         config.Application
		flag, where string
	}{
		{app: config.Application{CommandFlags: config.Flags{Plan: []string{"-parallelism=3", "-refresh-only=false"},
			Apply: []string{"-target=x"}}}},
		{config.Application{CommandFlags: config.Flags{Plan: []string{"-lock=true", "--target=x.y"}}}, "-target",
			"commandFlags.plan"},
		{config.Application{CommandFlags: config.Flags{Shared: []string{"-destroy"}}}, "-destroy",
			"commandFlags.shared"},
		{config.Application{CommandEnvs: config.Environments{Plan: []string{"A=-destroy",
			"TF_CLI_ARGS_plan=-no-color -refresh-only"}}}, "-refresh-only", "commandEnvs.plan"},
	} {
		flag, where := Narrowing(&test.app)
		require.Equal(t, []string{test.flag, test.where}, []string{flag, where})
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config/options"
)

func TestAPluginThatIsNotThereIsNoMistakeOfTheFile(t *testing.T) {
	t.Parallel()
	const wait = "{name: WAIT, with: {duration: 1s}}"
	named := func(plugins string) string {
		return "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: a\n  plugins: " + plugins + "\n"
	}
	for text, lacking := range map[string][]bool{
		pipeline(wait):                                          nil,
		pipeline("{name: TERRAFORM_PLAN}", wait):                {true},
		pipeline("{name: OUR_OWN_STAGE}"):                       {true},
		pipeline("{name: WAIIT}"):                               {false},
		pipeline("{name: TERRAFORM_PLAN}", "{name: WAIT}"):      {true, false},
		pipeline("{name: ROLLBACK}"):                            {false},
		named("{terraform: {}}"):                                {true},
		named("{ours: {}}"):                                     {true},
		named("{kubernetess: {}}"):                              {false},
		named("{wait: {}}"):                                     {false},
		named("{kubernetes: {input: {unknown: 1}}, ecs: {}}"):   {false, true},
		named("{kubernetes: {input: {namespace: a}}, ecs: {}}"): {true},
	} {
		c := &options.Checker{Catalogue: catalogue(t), Plugins: only(t, "wait", "kubernetes"), Where: "here"}
		report := check(c, text)
		var got []bool
		for _, mistake := range report.Errors {
			got = append(got, mistake.NoPlugin)
		}
		require.Equal(t, lacking, got, "%s%s", text, report.Errors.Error())
	}
	unknown := &options.Checker{Catalogue: catalogue(t), Plugins: []options.Plugin{{Name: "ours"}}, Where: "here"}
	require.Empty(t, check(unknown, pipeline("{name: TERRAFORM_PLAN}")).Errors, "the plugin may have the stage")
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/config/options"
)

func TestABlockOfAChainThatDeploysNothingIsNamedAtItsPlace(t *testing.T) {
	t.Parallel()
	const application = "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  plugins: {kubernetes: {}}\n"
	member := application + "  name: bee\n  labels: {team: core}\n  trigger: {onChain: {disabled: false}}\n"
	const nothing = ", so this block of the chain deploys nothing"
	for name, c := range map[string]struct {
		block, member string
		partly        bool
		want          string
	}{
		"the name":       {block: "name: bee"},
		"name and label": {block: "name: bee, labels: {team: core}"},
		"the kind":       {block: "kind: KUBERNETES"},
		"another name": {block: "name: beee",
			want: `no other application has the name "beee"; did you mean "bee"?` + nothing},
		"itself": {block: "name: first", want: `no other application has the name "first"` + nothing},
		"a kind of v0": {block: "name: bee, kind: LAMBDA",
			want: `no such application has the kind "LAMBDA": that of bee is KUBERNETES` + nothing},
		"another label": {block: "labels: {team: web}", want: "no such application has these labels" + nothing},
		"one that refuses chains": {block: "name: bee", member: application + "  name: bee\n",
			want: "bee refuses chains (trigger.onChain.disabled is true, the default)" + nothing},
		"an application of the kind": {block: "kind: LAMBDA", member: "apiVersion: pipecd.dev/v1beta1\n" +
			"kind: LambdaApp\nspec:\n  name: bee\n  trigger: {onChain: {disabled: false}}\n"},
		"not all are known": {block: "name: beee", partly: true},
		"one that cannot be read": {block: "name: beee",
			member: "apiVersion: pipecd.dev/v1beta1\nkind: Application\n- x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.member == "" {
				c.member = member
			}
			first := config.Check([]byte(application+"  name: first\n  postSync:\n    chain:\n      applications:\n"+
				"        - {"+c.block+"}\n"), "first.yaml")
			second := config.Check([]byte(c.member), "second.yaml")
			checker := &options.Checker{Catalogue: catalogue(t), Complete: !c.partly}
			checker.CheckTogether(first, second)
			if c.want == "" {
				require.Empty(t, first.Warnings)
				return
			}
			require.Len(t, first.Warnings, 1)
			require.Equal(t, "first.yaml:9:11: spec.postSync.chain.applications[0]: "+c.want, first.Warnings[0].Error())
		})
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"

	"github.com/hashicorp/go-version"
	"github.com/stretchr/testify/require"
)

func TestATextThatIsNoConstraintIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "1", "1.8.0", "= 1.8.0", ">=1.8,<2", ">= 1.8, != 1.9.1, < 2.0.0-alpha1", "~> 1.8",
		"1.8.0-rc.1+build"} {
		require.NoError(t, (&Application{TerraformVersion: text}).Validate(), text)
		if text != "" {
			_, err := version.NewConstraint(text)
			require.NoError(t, err, text)
		}
	}
	require.NoError(t, (&Application{TerraformVersion: "v1.8.0"}).Validate())
	for _, text := range []string{"latest", "1.x", "=> 1.8", "> 1.8 < 2", "1.8,", ">=", "1..8"} {
		require.ErrorContains(t, (&Application{TerraformVersion: text}).Validate(), "terraformVersion is", text)
		_, err := version.NewConstraint(text)
		require.Error(t, err, text)
	}
}

func TestAWorkspaceThatTheProgramRefusesIsRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "default", "blue-2", "a_b.c"} {
		require.NoError(t, (&Application{Workspace: name}).Validate(), name)
		require.NoError(t, (&Target{Workspace: name}).Validate(), name)
	}
	for _, name := range []string{"a b", "a/b", "ä", "a?"} {
		require.ErrorContains(t, (&Application{Workspace: name}).Validate(), "workspace is", name)
		require.ErrorContains(t, (&Target{Workspace: name}).Validate(), "workspace is", name)
	}
}

func TestThePlanFileIsNotChosenByFlags(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"-out=x", "--out=x", "-out"} {
		app := &Application{CommandFlags: Flags{Plan: []string{"-lock=true", flag}}}
		require.EqualError(t, app.Validate(), "commandFlags.plan has "+flag+", want "+outForm)
		app = &Application{CommandFlags: Flags{Shared: []string{flag}}}
		require.ErrorContains(t, app.Validate(), "commandFlags.shared has "+flag)
	}
	require.NoError(t, (&Application{CommandFlags: Flags{Plan: []string{"-target=out", "-outer"}}}).Validate())
}

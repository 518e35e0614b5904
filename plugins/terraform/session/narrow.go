// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/terraform/config"
)

// Narrowing returns the flag of plan with which a plan without changes does not say that the configuration and the
// resources agree, and where the application has it; both are empty for none.
func Narrowing(app *config.Application) (flag, where string) {
	envs := app.CommandEnvs
	for _, one := range []struct {
		where string
		flags []string
	}{
		{"commandFlags.plan", app.CommandFlags.Plan}, {"commandFlags.shared", app.CommandFlags.Shared},
		{"commandEnvs.plan", flagsIn(envs.Plan)}, {"commandEnvs.shared", flagsIn(envs.Shared)},
	} {
		if i := slices.IndexFunc(one.flags, narrows); i >= 0 {
			return nameOf(one.flags[i]), one.where
		}
	}
	return "", ""
}

// flagsIn are the flags for plan that an environment adds to the command line.
func flagsIn(env []string) []string {
	var flags []string
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if name == "TF_CLI_ARGS" || name == "TF_CLI_ARGS_plan" {
			flags = append(flags, strings.Fields(value)...)
		}
	}
	return flags
}

func narrows(flag string) bool {
	return strings.HasPrefix(flag, "-") && !strings.HasSuffix(flag, "=false") && slices.Contains([]string{"-target",
		"-target-file", "-exclude", "-exclude-file", "-destroy", "-refresh-only"}, nameOf(flag))
}

// nameOf is a flag without its value, with one dash.
func nameOf(flag string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
	return "-" + name
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Application is spec.plugins.terraform of an application configuration.
type Application struct {
	// Workspace is the workspace to select. Default: that of the deploy target.
	Workspace string `json:"workspace"`
	// CreateWorkspace creates the workspace when it does not exist. Default false.
	CreateWorkspace bool `json:"createWorkspace" jsonschema:"default=false"`
	// TerraformVersion is a version, or a constraint such as ">= 1.8, < 2", that the program must have. Default: any.
	TerraformVersion string `json:"terraformVersion"`
	// Vars are variables, each as name=value.
	Vars []string `json:"vars" jsonschema:"pattern=^[^=]+=,patternErrorMessage=the form NAME=value,writeOnly"`
	// VarFiles are files with variables.
	VarFiles []string `json:"varFiles"`
	// CommandFlags are more flags of the commands.
	CommandFlags Flags `json:"commandFlags"`
	// CommandEnvs are the environment of the commands, each as KEY=value.
	CommandEnvs Environments `json:"commandEnvs"`
	// LockTimeout is how long commands wait for the lock of the state. Default 5m.
	LockTimeout sdk.Duration `json:"lockTimeout" jsonschema:"default=5m"`
	// AllowDestroy is whether resources may be destroyed: never, after an approval, or always. A stage may have its
	// own. Default approval.
	AllowDestroy string `json:"allowDestroy" jsonschema:"enum=never,enum=approval,enum=always,default=approval"`
	// Input is a key of PipeCD v0 and is not read: its content belongs into plugins.terraform itself; pipedeck migrate
	// moves it there.
	Input any `json:"input" jsonschema:"deprecated"`
}

// Flags are flags by command.
type Flags struct {
	// Shared is for all commands.
	Shared []string `json:"shared"`
	// Init is for init.
	Init []string `json:"init"`
	// Plan is for plan.
	Plan []string `json:"plan"`
	// Apply is for apply.
	Apply []string `json:"apply"`
}

// Environments are variables of the environment by command.
type Environments struct {
	// Shared is for all commands.
	Shared []string `json:"shared" jsonschema:"pattern=^[^=]+=,patternErrorMessage=the form NAME=value,writeOnly"`
	// Init is for init.
	Init []string `json:"init" jsonschema:"pattern=^[^=]+=,patternErrorMessage=the form NAME=value,writeOnly"`
	// Plan is for plan.
	Plan []string `json:"plan" jsonschema:"pattern=^[^=]+=,patternErrorMessage=the form NAME=value,writeOnly"`
	// Apply is for apply.
	Apply []string `json:"apply" jsonschema:"pattern=^[^=]+=,patternErrorMessage=the form NAME=value,writeOnly"`
}

// Validate refuses what no command takes.
func (a *Application) Validate() error {
	for _, file := range a.VarFiles {
		if file == "" || !filepath.IsAbs(file) && !filepath.IsLocal(file) {
			return fmt.Errorf("varFiles has %q, which is not a file of the application", file)
		}
	}
	e := a.CommandEnvs
	flags := a.CommandFlags
	return errors.Join(checkWorkspace(a.Workspace), checkConstraint(a.TerraformVersion),
		checkFlags("commandFlags.shared", flags.Shared), checkFlags("commandFlags.plan", flags.Plan),
		checkDestroy(a.AllowDestroy), pairs("vars", a.Vars), pairs("commandEnvs.shared", e.Shared),
		pairs("commandEnvs.init", e.Init), pairs("commandEnvs.plan", e.Plan), pairs("commandEnvs.apply", e.Apply))
}

// The values of allowDestroy.
const (
	DestroyNever    = "never"
	DestroyApproval = "approval"
	DestroyAlways   = "always"
)

func checkDestroy(value string) error {
	if value == "" || slices.Contains([]string{DestroyNever, DestroyApproval, DestroyAlways}, value) {
		return nil
	}
	return fmt.Errorf("allowDestroy is %q, it has to be never, approval or always", value)
}

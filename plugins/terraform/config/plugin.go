// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Plugin is the configuration of the plugin in the piped configuration.
type Plugin struct {
	// Binary is the program to run, by path or by a name in PATH. Default: tofu, else terraform, of PATH.
	Binary string `json:"binary"`
	// Programs are programs that the plugin downloads when an application wants a version that the installed program
	// does not have, or none is installed: the newest one that fits. Default: none.
	Programs []Program `json:"programs"`
	// WorkDir keeps saved plans, programs and providers. Default: pipedeck/terraform in the user's cache directory.
	WorkDir string `json:"workDir"`
	// DriftInterval is the time between two looks for drift. Default 10m.
	DriftInterval sdk.Duration `json:"driftInterval" jsonschema:"default=10m"`
}

// Validate refuses paths that depend on the directory in which piped was started.
func (p *Plugin) Validate() error {
	if p.WorkDir != "" && !filepath.IsAbs(p.WorkDir) {
		return fmt.Errorf("workDir is %q, it has to be an absolute path", p.WorkDir)
	}
	if strings.ContainsRune(p.Binary, filepath.Separator) && !filepath.IsAbs(p.Binary) {
		return fmt.Errorf("binary is %q, it has to be an absolute path or a name in PATH", p.Binary)
	}
	for i := range p.Programs {
		if err := p.Programs[i].validate(); err != nil {
			return fmt.Errorf("programs[%d]: %w", i, err)
		}
	}
	if p.DriftInterval < 0 {
		return errors.New("driftInterval has to be more than 0")
	}
	return nil
}

// Target is the configuration of a deploy target.
type Target struct {
	// Vars are variables, each as name=value, before those of the application.
	Vars []string `json:"vars" jsonschema:"pattern=^[^=]+=,patternErrorMessage=the form NAME=value,writeOnly"`
	// DriftDetectionEnabled looks for drift. Default true.
	DriftDetectionEnabled *bool `json:"driftDetectionEnabled" jsonschema:"default=true"`
	// Workspace is the workspace for applications that name none. Default: none is selected.
	Workspace string `json:"workspace"`
	// LocalState is the directory with the states of applications that name no place for theirs. Default: the folder
	// states in the plugin's workDir.
	LocalState string `json:"localState"`
}

// LooksForDrift is whether the target takes part in the detection of drift.
func (t *Target) LooksForDrift() bool {
	return t.DriftDetectionEnabled == nil || *t.DriftDetectionEnabled
}

// Validate refuses what no command takes.
func (t *Target) Validate() error {
	if t.LocalState != "" && !filepath.IsAbs(t.LocalState) {
		return fmt.Errorf("localState is %q, it has to be an absolute path", t.LocalState)
	}
	return errors.Join(checkWorkspace(t.Workspace), pairs("vars", t.Vars))
}

// pairs refuses entries that are not name=value. The value is left out: it may be a secret.
func pairs(key string, list []string) error {
	for i, entry := range list {
		if name, _, is := strings.Cut(entry, "="); !is || strings.TrimSpace(name) == "" {
			return fmt.Errorf("%s[%d] has to be of the form NAME=value", key, i)
		}
	}
	return nil
}

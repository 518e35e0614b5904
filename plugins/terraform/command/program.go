// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/hashicorp/go-version"
)

// programs are what is looked for in PATH, in this order.
var programs = []string{"tofu", "terraform"}

// Find returns the path of the program: the one that is configured, else what PATH has.
func Find(configured string) (string, error) {
	names := programs
	if configured != "" {
		names = []string{configured}
	}
	var failed error
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err == nil {
			return path, nil
		}
		failed = err
	}
	return "", fmt.Errorf("find %s: %w\nnext step: install OpenTofu or Terraform, or name the program in "+
		"plugins[].config.binary of the piped configuration, or one to download in plugins[].config.programs",
		strings.Join(names, " or "), failed)
}

// Environment is that of this process without what would make commands ask, or fail for a file that does not exist.
func Environment(added ...string) []string {
	var env []string
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		switch name {
		case "TF_INPUT", "TF_IN_AUTOMATION", "TF_DATA_DIR", "TF_WORKSPACE", "CHECKPOINT_DISABLE":
			continue
		case "TF_CLI_CONFIG_FILE":
			if _, err := os.Stat(value); err != nil {
				continue
			}
		}
		env = append(env, entry)
	}
	env = append(env, "TF_INPUT=0", "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1")
	return append(env, added...)
}

// Version returns the version of the program, without "v".
func (r *Runner) Version(ctx context.Context) (string, error) {
	result, err := r.Run(ctx, Command{Args: []string{"version", "-json"}})
	if err != nil {
		return "", err
	}
	var answer struct {
		Version string `json:"terraform_version"`
	}
	if err := json.Unmarshal(result.Stdout, &answer); err != nil || answer.Version == "" {
		return "", fmt.Errorf("%s version -json does not say its version: %w", r.Program, err)
	}
	return answer.Version, nil
}

// CheckVersion refuses a version that a constraint does not take; "1.8.0" is that version alone.
func CheckVersion(have, constraint string) error {
	if constraint == "" {
		return nil
	}
	wanted, err := version.NewConstraint(strings.TrimPrefix(constraint, "v"))
	if err != nil {
		return fmt.Errorf("terraformVersion %q is not a version or a constraint: %w", constraint, err)
	}
	is, err := version.NewVersion(have)
	if err != nil {
		return err
	}
	if !wanted.Check(is) {
		return fmt.Errorf("the program has version %s, and terraformVersion wants %s\nnext step: change "+
			"terraformVersion, or name another program in plugins[].config.binary or config.programs of the piped "+
			"configuration",
			have, constraint)
	}
	return nil
}

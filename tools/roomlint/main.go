// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command roomlint runs depguard with the rules of .golangci.yml, so that the import rules of the
// rooms are held without compiling the whole of golangci-lint.
//
//	ROOMLINT_ROOT=. roomlint PACKAGES...
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/OpenPeeDeeP/depguard/v2"
	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/go/analysis/singlechecker"
)

// rootVariable names the repository; the checker owns the command line.
const rootVariable = "ROOMLINT_ROOT"

type golangciConfig struct {
	Linters struct {
		Settings struct {
			Depguard struct {
				Rules map[string]rule `yaml:"rules"`
			} `yaml:"depguard"`
		} `yaml:"settings"`
	} `yaml:"linters"`
}

// rule is one depguard list in golangci-lint's spelling.
type rule struct {
	ListMode string   `yaml:"list-mode"`
	Files    []string `yaml:"files"`
	Allow    []string `yaml:"allow"`
	Deny     []struct {
		Pkg  string `yaml:"pkg"`
		Desc string `yaml:"desc"`
	} `yaml:"deny"`
}

func main() {
	settings, err := load(filepath.Join(os.Getenv(rootVariable), ".golangci.yml"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "roomlint:", err)
		os.Exit(2)
	}
	analyzer, err := depguard.NewAnalyzer(settings)
	if err != nil {
		fmt.Fprintln(os.Stderr, "roomlint: .golangci.yml:", err)
		os.Exit(2)
	}
	singlechecker.Main(analyzer)
}

func load(path string) (*depguard.LinterSettings, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the rules (set %s to the repository): %w", rootVariable, err)
	}
	var config golangciConfig
	if err := yaml.Unmarshal(data, &config); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(config.Linters.Settings.Depguard.Rules) == 0 {
		return nil, fmt.Errorf("%s: no depguard rules", path)
	}
	settings := depguard.LinterSettings{}
	for name, r := range config.Linters.Settings.Depguard.Rules {
		list := &depguard.List{ListMode: r.ListMode, Files: r.Files, Allow: r.Allow, Deny: map[string]string{}}
		for _, d := range r.Deny {
			list.Deny[d.Pkg] = d.Desc
		}
		settings[name] = list
	}
	return &settings, nil
}

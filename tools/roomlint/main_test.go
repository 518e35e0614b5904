// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each case is a file of one room that imports a package of another.
func TestTheRulesOfTheRoomsAreHeld(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "roomlint")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for name, c := range map[string]struct {
		file, imports string
		refused       bool
	}{
		"the UI may not reach the agent":       {"tui/x/x.go", "piped/config", true},
		"the UI is a client of the deck API":   {"tui/x/x.go", "api/deck/v1", false},
		"the UI may not use the control plane": {"tui/x/x.go", "devenv/controlplane", true},
		"the UI pauses as all clients do":      {"tui/x/x.go", "system/clock", false},
		"the UI leaves the system alone":       {"tui/x/x.go", "system/processtree", true},
		"the agent may not know the UI's API":  {"piped/x/x.go", "api/deck/v1", true},
		"the agent uses the contracts":         {"piped/x/x.go", "api/model", false},
		"the agent may not import the SDK":     {"piped/x/x.go", "plugins/sdk", true},
		"a plugin uses the SDK":                {"plugins/x/x.go", "plugins/sdk", false},
		"a plugin may not import the agent":    {"plugins/x/x.go", "piped/config", true},
		"a plugin may not import another":      {"plugins/x/x.go", "plugins/kubernetes/config", true},
		"many clusters are several single ones": {
			"plugins/kubernetes_multicluster/x.go", "plugins/kubernetes/config", false,
		},
		"one cluster does not know of many": {
			"plugins/kubernetes/x/x.go", "plugins/kubernetes_multicluster/x", true,
		},
		"the SDK may read configuration":              {"plugins/sdk/x.go", "piped/config", false},
		"the SDK may not import the agent's parts":    {"plugins/sdk/x.go", "piped/git", true},
		"the environment may read configuration":      {"devenv/x/x.go", "piped/config", false},
		"the environment may not import the agent":    {"devenv/x/x.go", "piped/git", true},
		"the agent uses the operating system":         {"piped/x/x.go", "system/processtree", false},
		"a plugin uses the operating system":          {"plugins/x/x.go", "system/processtree", false},
		"the environment uses the operating system":   {"devenv/x/x.go", "system/owned", false},
		"the SDK does without our system packages":    {"plugins/sdk/x.go", "system/processtree", true},
		"system imports nothing of ours":              {"system/x/x.go", "piped/config", true},
		"the contracts import nothing of ours":        {"api/x/v1/x.go", "piped/config", true},
		"commands import everything":                  {"cmd/x/x.go", "piped/git", false},
		"the agent may not import the environment":    {"piped/x/x.go", "devenv/env", true},
		"the environment may not import the commands": {"devenv/x/x.go", "cmd/x2", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := module(t, c.file, c.imports)
			cmd := exec.Command(program, "./...")
			cmd.Dir = root
			cmd.Env = append(os.Environ(), rootVariable+"="+root)
			out, err := cmd.CombinedOutput()
			if refused := err != nil && strings.Contains(string(out), "not allowed"); refused != c.refused {
				t.Errorf("refused %v, want %v: %s", refused, c.refused, out)
			}
		})
	}
}

// module makes a small copy of the repository: the rules, one package and what it imports.
func module(t *testing.T, file, imports string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "pipedeck")
	rules, err := os.ReadFile(filepath.Join("..", "..", ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	const path = "github.com/pipedeck/pipedeck"
	for name, content := range map[string]string{
		".golangci.yml":   string(rules),
		"go.mod":          "module " + path + "\n\ngo 1.26\n",
		imports + "/p.go": "package p\n",
		file:              "package x\n\nimport _ \"" + path + "/" + imports + "\"\n",
	} {
		target := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

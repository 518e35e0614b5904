// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// fault is a mistake that is built into the programs, to see that chaos finds it.
type fault struct {
	name string
	// file is the source, relative to the root of the module, in which old is replaced by new.
	file, old, new string
	// possible reports whether try can be run on this machine; nil: it can.
	possible func() bool
	// try is what must find the fault.
	try func(ctx context.Context, c *chaos) error
}

func faults() []fault {
	return []fault{
		{
			name: "programs outlive their stage", file: "system/processtree/tree.go",
			old: "func (t *Tree) End(ctx context.Context) (ended []Process, err error) {\n",
			new: "func (t *Tree) End(ctx context.Context) (ended []Process, err error) {\n" +
				"\tif ctx != nil {\n\t\treturn nil, nil\n\t}\n",
			try: func(ctx context.Context, c *chaos) error {
				return c.killAt(ctx, "stage", "plugin scriptrun", "piped", "plugin scriptrun")
			},
		},
		{
			name: "a change is acknowledged before it is on the disk", file: "devenv/controlplane/journal/commit.go",
			old:      "\tif err := j.file.Sync(); err != nil {\n\t\treturn err\n\t}\n\t_, err := j.file.WriteAt(",
			new:      "\t_, err := j.file.WriteAt(",
			possible: canCutPower, try: tryPowerCut,
		},
		{
			name: "directories without the mark are taken as ours", file: "system/owned/mark.go",
			old: "\tmarked, err := isMarked(root, path, mark)\n\tif err == nil && !marked {\n",
			new: "\tmarked, err := isMarked(root, path, mark)\n\tif marked = true; err == nil && !marked {\n",
			try: tryInputs,
		},
	}
}

// tryFaults builds each fault into the programs and runs the part that must find it.
func tryFaults(ctx context.Context, c *chaos) error {
	for i, f := range faults() {
		if f.possible != nil && !f.possible() {
			fmt.Printf("faults: skipped: %q cannot be tried on this machine\n", f.name)
			continue
		}
		home, err := c.home(fmt.Sprintf("fault-%d", i+1))
		if err != nil {
			return err
		}
		bin := filepath.Join(home, "bin")
		if err := f.build(ctx, c.bin, home, bin); err != nil {
			return fmt.Errorf("plant the fault %q: %w", f.name, err)
		}
		tried := &chaos{settings: c.settings, bin: bin, dir: home, self: c.self, random: c.random,
			findings: &findings{quiet: true}}
		if err := f.try(ctx, tried); err != nil {
			return fmt.Errorf("the fault %q: %w", f.name, err)
		}
		found := tried.findings.list()
		if len(found) == 0 {
			c.findings.add("faults: chaos did not find the planted fault %q", f.name)
			continue
		}
		fmt.Printf("the planted fault %q was found: %s\n", f.name, firstLine(found[0]))
	}
	return nil
}

// build compiles the programs with the fault in them. The source tree is not touched.
func (f fault) build(ctx context.Context, from, home, bin string) error {
	changed, err := f.plant(".")
	if err != nil {
		return err
	}
	file, err := filepath.Abs(f.file)
	if err != nil {
		return err
	}
	planted, overlay := filepath.Join(home, "planted.go"), filepath.Join(home, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {file: planted}})
	if err != nil {
		return err
	}
	plugins, err := filepath.Glob(filepath.Join(from, "plugins", "*"))
	if err != nil {
		return err
	}
	programs := []string{"./cmd/pipedeck", "./cmd/pipedeck-more", "./cmd/piped"}
	if err := errors.Join(os.WriteFile(planted, []byte(changed), 0o600), os.WriteFile(overlay, replace, 0o600),
		os.MkdirAll(filepath.Join(bin, "plugins"), 0o700)); err != nil {
		return err
	}
	if err := compile(ctx, overlay, bin, programs); err != nil {
		return err
	}
	programs = nil
	for _, plugin := range plugins {
		programs = append(programs, "./plugins/"+filepath.Base(plugin))
	}
	return compile(ctx, overlay, filepath.Join(bin, "plugins"), programs)
}

// plant returns the source with the fault in it; root is the root of the module.
func (f fault) plant(root string) (string, error) {
	source, err := os.ReadFile(filepath.Join(root, f.file))
	if err != nil {
		return "", err
	}
	if strings.Count(string(source), f.old) != 1 {
		return "", fmt.Errorf("%s does not hold the planted text exactly once; it has changed since: %q", f.file, f.old)
	}
	return strings.Replace(string(source), f.old, f.new, 1), nil
}

func compile(ctx context.Context, overlay, dir string, packages []string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-overlay", overlay, "-o",
		dir + string(filepath.Separator)}, packages...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile %s: %w: %s", strings.Join(packages, " "), err, out)
	}
	return nil
}

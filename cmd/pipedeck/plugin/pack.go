// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/devenv/pluginsource"
)

func newPackCommand() *cobra.Command {
	return &cobra.Command{
		Use: "pack DIR FILE", Short: "Make one program of a plugin in a directory", Args: cobra.ExactArgs(2),
		Long: `Build the plugin of DIR as its piped-plugin.yaml says, and write FILE: one program with all that is in
DIR, node_modules and .venv included, which any piped can fetch and run. It unpacks itself once into the cache of the
user that runs it, and needs sh, tar and what "run" names, such as node, on that machine.

Left out are piped-plugin.yaml, whose configuration is that of this machine, and names in DIR that begin with a dot, but
for .venv. Modules with compiled code, and programs of a build, are for the system of this machine.`,
		Example: `  pipedeck plugin pack ./counter dist/counter
  pipedeck plugin push oci://registry.example/team/counter:v1 --file linux/amd64=./counter`,
		RunE: func(cmd *cobra.Command, args []string) error { return pack(cmd.Context(), args[0], args[1]) },
	}
}

func pack(ctx context.Context, dir, file string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return exit.Usage(err, "give the directory of a plugin")
	}
	if _, err := os.Stat(dir); err != nil {
		return exit.Usage(fmt.Errorf("look for the plugin: %w", err), "give the directory of a plugin")
	}
	err = pluginsource.Pack(ctx, dir, file)
	var compile *pluginsource.CompileError
	switch {
	case ctx.Err() != nil:
		return exit.Silent(exit.Interrupted)
	case errors.Is(err, pluginsource.ErrNoRecipe):
		return exit.Usage(err, "say in "+pluginflag.ConfigName+" how the plugin is run: run: [node, main.js]; a Go "+
			"package is built with: go build")
	case errors.As(err, &compile):
		return exit.With(exit.Failed, err, "correct the sources and run again")
	}
	return err
}

// packDirectories packs each directory among files by platform into a file below scratch.
func packDirectories(ctx context.Context, files map[string]string, scratch string) (map[string]string, error) {
	packed := map[string]string{}
	for platform, path := range files {
		packed[platform] = path
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue // the push reports what cannot be read
		}
		to, err := os.CreateTemp(scratch, "plugin-")
		if err != nil {
			return nil, fmt.Errorf("make a file for the program of %s: %w", path, err)
		}
		if err := errors.Join(to.Close(), pack(ctx, path, to.Name())); err != nil {
			return nil, err
		}
		packed[platform] = to.Name()
	}
	return packed, nil
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/plugins"
)

const (
	// schemaTimeout bounds how long a program may take to print its schema.
	schemaTimeout = 10 * time.Second
	// schemaGrace is for the output of processes that such a program leaves behind.
	schemaGrace = time.Second
)

// knownPlugins returns the plugins whose options are known by their names: the bundled ones, and those of PipeCD.
func knownPlugins() ([]options.Plugin, error) {
	schemas, err := plugins.Schemas()
	if err != nil {
		return nil, err
	}
	return options.Catalogue(schemas)
}

// givenPlugins asks the programs of --plugin for their schemas. The options of a program that does not answer are not
// known, which warnings say.
func givenPlugins(ctx context.Context, given []string, warnings io.Writer) ([]options.Plugin, error) {
	var list []options.Plugin
	for _, text := range given {
		parsed, err := parsePlugin(text)
		if err != nil {
			return nil, err
		}
		plugin := options.Plugin{Name: parsed.Name}
		document, err := schemaOf(ctx, parsed)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, err
		case len(document) == 0:
			fmt.Fprintf(warnings, "warning: the options of the plugin %s are not checked: its program does not "+
				"print a schema\n",
				parsed.Name)
		default:
			if plugin.Schema, err = options.Parse(document); err != nil {
				return nil, usageError(fmt.Errorf("plugin %s: %w", parsed.Name, err),
					"correct what the program prints when it is run as: PROGRAM schema")
			}
		}
		list = append(list, plugin)
	}
	return list, nil
}

// schemaOf returns the schema of a plugin on this machine; empty when it has none. The package of a plugin that is
// given as a directory is built first.
func schemaOf(ctx context.Context, plugin workspace.Plugin) ([]byte, error) {
	if plugin.Source != "" {
		dir, err := os.MkdirTemp("", "pipedeck-plugin-")
		if err != nil {
			return nil, fmt.Errorf("create a directory for the plugin: %w", err)
		}
		program := filepath.Join(dir, "plugin")
		err = buildPlugin(ctx, plugin.Source, program)
		var document []byte
		if err == nil {
			document = printedSchema(ctx, program)
		}
		return document, errors.Join(err, os.RemoveAll(dir))
	}
	program, local := strings.CutPrefix(plugin.URL, "file://")
	if !local {
		return nil, nil
	}
	if err := checkProgram("plugin "+plugin.Name, program, "give the program of a plugin"); err != nil {
		return nil, err
	}
	return printedSchema(ctx, program), nil
}

// printedSchema runs a program, and returns nothing when it does not know the command: PipeCD's plugins do not.
func printedSchema(ctx context.Context, program string) []byte {
	ctx, cancel := context.WithTimeout(ctx, schemaTimeout)
	defer cancel()
	output := &boundedBuffer{limit: options.MaxSchema + 1}
	cmd := exec.CommandContext(ctx, program, "schema") //nolint:gosec // the user gives the program
	cmd.Stdout, cmd.WaitDelay = output, schemaGrace
	if err := cmd.Run(); err != nil {
		return nil
	}
	return bytes.TrimSpace(output.Bytes())
}

// boundedBuffer keeps the first bytes that are written to it.
type boundedBuffer struct {
	bytes.Buffer
	limit int
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	_, _ = b.Buffer.Write(p[:min(len(p), b.limit-b.Len())])
	return len(p), nil
}

// replaceByName returns the plugins with the given ones in place of those with the same names, or after them.
func replaceByName(list, given []options.Plugin) []options.Plugin {
	list = slices.Clone(list)
	for _, plugin := range given {
		if i := slices.IndexFunc(list, func(p options.Plugin) bool { return p.Name == plugin.Name }); i >= 0 {
			plugin.Stages = list[i].Stages
			list[i] = plugin
		} else {
			list = append(list, plugin)
		}
	}
	return list
}

// withSchema finds the schema of a plugin by its name.
func withSchema(known []options.Plugin, name string, stages []string) options.Plugin {
	plugin := options.Plugin{Name: name, Stages: stages}
	if i := slices.IndexFunc(known, func(p options.Plugin) bool { return p.Name == name }); i >= 0 {
		plugin.Schema = known[i].Schema
	}
	return plugin
}

// checker checks the applications of an environment against the schemas of its plugins.
func (f *environmentFlags) checker(ctx context.Context, w *workspace.Workspace) (*options.Checker, error) {
	_, programs, err := f.programs(w)
	if err != nil {
		return nil, err
	}
	known, err := knownPlugins()
	if err != nil {
		return nil, err
	}
	given, err := givenPlugins(ctx, f.plugins, os.Stderr)
	if err != nil {
		return nil, err
	}
	c := &options.Checker{Catalogue: known, Plugins: []options.Plugin{}, Where: "the plugins of this environment"}
	known = replaceByName(known, given)
	for _, plugin := range programs {
		c.Plugins = append(c.Plugins, withSchema(known, plugin.Name, plugin.Stages))
	}
	return c, nil
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginflag

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
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/plugins"
)

const (
	// schemaTimeout bounds how long a program may take to print its schema, or its version.
	schemaTimeout = 10 * time.Second
	// schemaGrace is for the output of processes that such a program leaves behind.
	schemaGrace = time.Second
)

// Known returns the plugins whose options are known by their names: the bundled ones, and those of PipeCD. The list is
// shared; do not change it.
var Known = sync.OnceValues(func() ([]options.Plugin, error) {
	schemas, err := plugins.Schemas()
	if err != nil {
		return nil, err
	}
	return options.Catalogue(schemas)
})

// Given asks the programs of --plugin for their schemas. The options of a program that does not answer are not
// known, which warnings say. building is called before a plugin is built, and what it returns after that.
func Given(ctx context.Context, given []string, warnings io.Writer, building func(workspace.Plugin) (built func())) (
	[]options.Plugin, error) {
	var list []options.Plugin
	for _, text := range given {
		parsed, err := Parse(text)
		if err != nil {
			return nil, err
		}
		plugin := options.Plugin{Name: parsed.Name}
		document, err := schemaOf(ctx, parsed, building)
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
				return nil, exit.Usage(fmt.Errorf("plugin %s: %w", parsed.Name, err),
					"correct what the program prints when it is run as: PROGRAM schema")
			}
		}
		list = append(list, plugin)
	}
	return list, nil
}

// schemaOf returns the schema of a plugin on this machine; empty when it has none. The package of a plugin that is
// given as a directory is built first.
func schemaOf(ctx context.Context, plugin workspace.Plugin, building func(workspace.Plugin) (built func())) (
	[]byte, error) {
	if plugin.Source != "" {
		defer building(plugin)()
		dir, err := os.MkdirTemp("", "pipedeck-plugin-")
		if err != nil {
			return nil, fmt.Errorf("create a directory for the plugin: %w", err)
		}
		program := filepath.Join(dir, "plugin")
		err = Build(ctx, plugin.Source, program)
		var document []byte
		if err == nil {
			document = printedSchema(ctx, program, "")
		}
		return document, errors.Join(err, os.RemoveAll(dir))
	}
	program, local := strings.CutPrefix(plugin.URL, "file://")
	if !local {
		return nil, nil
	}
	if err := CheckProgram("plugin "+plugin.Name, program, "give the program of a plugin"); err != nil {
		return nil, err
	}
	return printedSchema(ctx, program, ""), nil
}

// SchemaOf asks the program of a plugin, which runs in dir, for its schema; nil when it prints none.
func SchemaOf(ctx context.Context, program, dir string) (*options.Schema, error) {
	document := printedSchema(ctx, program, dir)
	if len(document) == 0 || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return options.Parse(document)
}

// printedSchema runs a program, and returns nothing when it does not know the command: PipeCD's plugins do not.
func printedSchema(ctx context.Context, program, dir string) []byte {
	return printed(ctx, program, dir, "schema", options.MaxSchema+1)
}

// printed is what a program prints for a command, at most so many bytes; nothing when it fails.
func printed(ctx context.Context, program, dir, command string, most int) []byte {
	ctx, cancel := context.WithTimeout(ctx, schemaTimeout)
	defer cancel()
	output := NewBoundedBuffer(most)
	cmd := exec.CommandContext(ctx, program, command) //nolint:gosec // the user gives the program
	cmd.Stdout, cmd.WaitDelay, cmd.Dir = output, schemaGrace, dir
	if err := cmd.Run(); err != nil {
		return nil
	}
	return bytes.TrimSpace(output.Bytes())
}

// BoundedBuffer keeps the first bytes that are written to it.
type BoundedBuffer struct {
	kept  bytes.Buffer // not embedded: io.Copy would find its ReadFrom, which knows no limit
	limit int
}

// NewBoundedBuffer returns a buffer for limit bytes at most.
func NewBoundedBuffer(limit int) *BoundedBuffer { return &BoundedBuffer{limit: limit} }

// Write takes all that it is given, and keeps what fits.
func (b *BoundedBuffer) Write(p []byte) (int, error) {
	_, _ = b.kept.Write(p[:min(len(p), b.limit-b.kept.Len())])
	return len(p), nil
}

// Bytes is what was kept. It is valid until the next Write.
func (b *BoundedBuffer) Bytes() []byte { return b.kept.Bytes() }

// String is a copy of what was kept.
func (b *BoundedBuffer) String() string { return b.kept.String() }

// Replace returns the plugins with the given ones in place of those with the same names, or after them.
func Replace(list, given []options.Plugin) []options.Plugin {
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

// WithSchema finds the schema of a plugin by its name.
func WithSchema(known []options.Plugin, name string, stages []string) options.Plugin {
	plugin := options.Plugin{Name: name, Stages: stages}
	if i := slices.IndexFunc(known, func(p options.Plugin) bool { return p.Name == name }); i >= 0 {
		plugin.Schema = known[i].Schema
	}
	return plugin
}

// NewChecker returns a checker that knows the bundled and PipeCD's plugins, and the given ones.
func NewChecker(ctx context.Context, given []string, warnings io.Writer) (*options.Checker, error) {
	known, err := Known()
	if err != nil {
		return nil, err
	}
	asked, err := Given(ctx, given, warnings, unreported)
	if err != nil {
		return nil, exit.Explain(ctx, err)
	}
	return &options.Checker{Catalogue: Replace(known, asked)}, nil
}

// unreported is for commands that start nothing: no one waits for their builds but their user.
func unreported(workspace.Plugin) (built func()) { return func() {} }

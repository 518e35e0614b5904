// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/module"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/tui/document"
)

// pluginName is what a plugin may be called: its stage and its program are named after it.
var pluginName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,40}$`)

// published is the version in which a proxy has the SDK; empty when no proxy has it. The linker sets it.
var published string

// Archive returns the sources of the SDK, as package archive does; a nil one is for a program that has the command for
// its help alone.
type Archive func() ([]byte, error)

// flags are those of plugin new.
type flags struct {
	kind, language string
	module, sdk    string
	output         format.Output
}

// NewCommand returns the command.
func NewCommand(archive Archive) *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use: "new NAME [DIR]", Short: "Create a new plugin that works", Args: cobra.RangeArgs(1, 2),
		Long: `Write a plugin with tests, a Makefile, a workflow for CI and an application to try it with. DIR must
not exist or be empty; without it, it is a directory NAME here.

The kinds are:
  stage         a stage of pipelines
  deployment    brings applications to deploy targets, and back
  livestate     also shows what lives there
  planpreview   also shows what a change would do there

A plugin in Python needs grpcio and protobuf, and PyYAML when it deploys; a plugin for Node needs packages that npm
installs.
A plugin in Go has the sources of the SDK in its own directory: go build and go test need neither a clone nor the
network, here and on any other machine.`,
		Example: `  pipedeck plugin new greeter
  pipedeck plugin new shelf --kind livestate
  pipedeck plugin new counter --lang python
  pipedeck plugin new shelf --lang node --kind planpreview
  pipedeck plugin new greeter ~/src/greeter --module example.com/greeter`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			if len(args) == 2 {
				dir = args[1]
			}
			return f.run(cmd.OutOrStdout(), args[0], dir, archive)
		},
	}
	cmd.Flags().StringVar(&f.kind, "kind", kindStage, "what the plugin does: "+strings.Join(kinds, ", "))
	cmd.Flags().StringVar(&f.language, "lang", "go", "language of the plugin: "+strings.Join(languages, ", "))
	cmd.Flags().StringVar(&f.module, "module", "", "path of the Go module (default example.com/NAME)")
	cmd.Flags().StringVar(&f.sdk, "sdk", "", "use the SDK of this clone of pipedeck, for work on the SDK (default: "+
		"its sources are written into the plugin)")
	format.AddFlag(cmd, &f.output)
	return cmd
}

func (f *flags) run(out io.Writer, name, dir string, archive Archive) error {
	p, err := f.plugin(name)
	if err != nil {
		return err
	}
	if p.sources, err = f.dependencies(archive); err != nil {
		return err
	}
	if err := p.write(dir); err != nil {
		return err
	}
	if f.output.Machine() {
		return f.output.Document(out, document.NewPluginSources{
			Head: document.NewHead(), Name: p.Name, Kind: p.Kind, Language: p.Language, Stage: p.Stage,
			Module: p.Module, Directory: dir,
		})
	}
	return p.nextSteps(out, dir)
}

// plugin checks what the user wants.
func (f *flags) plugin(name string) (*plugin, error) {
	if !pluginName.MatchString(name) {
		return nil, exit.Usage(fmt.Errorf("%q is no name for a plugin", name),
			"use small letters, digits, - and _, a letter first, such as greeter")
	}
	if !slices.Contains(languages, f.language) {
		return nil, exit.Usage(fmt.Errorf("there is no plugin to write in %q", f.language),
			"give --lang "+strings.Join(languages, " or "))
	}
	if !slices.Contains(kinds, f.kind) {
		return nil, exit.Usage(fmt.Errorf("there is no kind of plugins %q", f.kind),
			"give --kind with one of "+strings.Join(kinds, ", "))
	}
	p := &plugin{Name: name, Kind: f.kind, Stage: stageType(name), Language: f.language, Module: f.module}
	if err := p.checkKnown(); err != nil {
		return nil, err
	}
	if f.language != languageGo {
		return p, f.checkOther()
	}
	if p.Module == "" {
		p.Module = "example.com/" + name
	}
	if err := module.CheckImportPath(p.Module); err != nil {
		return nil, exit.Usage(err, "give a module path such as --module example.com/"+name)
	}
	return p, nil
}

// CheckName returns why no plugin with a stage can have a name: piped knows another one of that name or with that
// stage.
func CheckName(name string) error {
	return (&plugin{Name: name, Kind: kindStage, Stage: stageType(name)}).checkKnown()
}

// stageType is the type of the stage of a plugin.
func stageType(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }

// checkKnown refuses the names of plugins that pipedeck and piped know. A plugin of such a name would silently replace
// the other one, and one with a stage of another plugin is refused by piped next to it.
func (p *plugin) checkKnown() error {
	known, err := pluginflag.Known()
	if err != nil {
		return err
	}
	for _, other := range known {
		if other.Name == p.Name {
			return exit.Usage(fmt.Errorf("%s is the name of a plugin of PipeCD", p.Name),
				"give another name, such as my-"+p.Name+"; to have it replace that plugin, run: pipedeck up --plugin "+
					p.Name+"=DIR")
		}
		for _, stage := range p.stages() {
			if other.Has(stage) {
				return exit.Usage(fmt.Errorf("a plugin %s would have the stage %s, which the plugin %s has", p.Name,
					stage, other.Name), "give another name, such as my-"+p.Name)
			}
		}
	}
	return nil
}

// checkOther refuses what only plugins in Go have.
func (f *flags) checkOther() error {
	if f.module != "" || f.sdk != "" {
		return exit.Usage(errors.New("--module and --sdk are for plugins in Go"), "leave them out, or give --lang go")
	}
	return nil
}

// dependencies says where the plugin takes the SDK from.
func (f *flags) dependencies(archive Archive) (sources, error) {
	switch {
	case f.language == languagePython:
		return protocolText{"python3 -m unittest", f.kind != kindStage}, nil
	case f.language == languageNode:
		return protocolText{"npm install && npm test", f.kind != kindStage}, nil
	case f.sdk != "":
		dir, err := filepath.Abs(f.sdk)
		if err != nil {
			return nil, err
		}
		return newClone(dir)
	case published != "":
		return proxy(published), nil
	}
	var packed []byte
	if archive != nil {
		var err error
		if packed, err = archive(); err != nil {
			return nil, damaged(fmt.Errorf("read the sources of the SDK: %w", err))
		}
	}
	if len(packed) == 0 {
		return nil, exit.Usage(errors.New("this pipedeck was built without the sources of the SDK"),
			"build it with: make build; or give a clone of pipedeck with --sdk DIR")
	}
	return unpack(packed)
}

func (p *plugin) nextSteps(w io.Writer, dir string) error {
	stages := "the stage " + p.Stage
	if all := p.stages(); len(all) > 1 {
		stages = "the stages " + strings.Join(all, " and ")
	}
	_, err := fmt.Fprintf(w, `Wrote plugin %s with %s to %s. Try it:

  cd %s
  %s
  git init -q -b main && git add . && git commit -q -m "Begin"
  pipedeck up . --cluster none --plugin %s=.

Then change %s and save it. More: docs/plugin-author-guide.md of pipedeck.
`, p.Name, stages, dir, dir, p.sources.test(), p.Name, p.work())
	return err
}

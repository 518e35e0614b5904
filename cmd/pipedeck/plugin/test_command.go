// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/limit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/plugins/sdk/conformance"
)

// testFlags say what of a plugin is tested.
type testFlags struct {
	programFlags
	options conformance.Options
	source  string
	// noSource: --source '' asks for an application without files, also where the plugin has an example.
	noSource bool
	junit    []string
	list     bool
	verbose  bool
}

func newTestCommand() *cobra.Command {
	flags := &testFlags{}
	cmd := &cobra.Command{
		Use: "test PROGRAM|DIR", Short: "Check that a plugin does what piped expects",
		Args: func(cmd *cobra.Command, args []string) error {
			if flags.list {
				return cobra.MaximumNArgs(1)(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		Long: `Start a plugin of any language as PipeCD's piped does; send the requests that piped sends; run one of
its stages, cancel it, stop the plugin and start it again. DIR is a Go package, or has a piped-plugin.yaml that says
how the plugin is built and run.

The command checks the protocol, not the work of the plugin. So a stage without options may fail, which is noted. A
stage with the options of --with has to succeed within --run-limit; mistakes in them that the plugin's schema shows
are found first. --list shows all cases; a case that fails says what was seen, why it matters, and how to run it alone.

The stage really runs, many times, so a plugin that deploys does so to the deploy targets of its configuration. The
plugin runs in an empty directory, and each call gets a copy of the application: files that it writes are removed.
Each application of --source has its own id: runs of two applications do not disturb each other. Without --source,
it is the one in the directory example of DIR, where there is one.
A tool that the plugin has piped install, such as kubectl, is the program of that name in PATH, whatever its version.
Values of its configuration are masked in all that is printed.`,
		Example: `  pipedeck plugin test ./greeter
  pipedeck plugin test dist/greeter --stage GREET --with '{"names": ["Ada"], "pause": "1m"}' --run-limit 2m
  pipedeck plugin test count.pyz -o json --junit results.xml
  pipedeck plugin test ./deployer --config piped-plugin.yaml --source ../my-app
  pipedeck plugin test ./greeter --only 'cancel.*' --only secrets.config
  pipedeck plugin test --list`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.list {
				return flags.showCases(cmd.OutOrStdout())
			}
			return flags.run(cmd, args[0])
		},
	}
	flags.register(cmd)
	format.AddListFlags(cmd, &flags.output)
	return cmd
}

func (f *testFlags) register(cmd *cobra.Command) {
	f.programFlags.register(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.options.Only, "only", nil,
		"run the cases with this `ID`, in which * stands for any letters; may be repeated (default: all)")
	flags.BoolVar(&f.list, "list", false, "list the cases and run none")
	flags.StringArrayVar(&f.junit, "junit", nil, "write the results to this file as JUnit XML")
	flags.StringVar(&f.options.Stage, "stage", "", "the stage to run (default: the first that the plugin names)")
	flags.StringVar(&f.options.With, "with", "", "what stands under \"with\" of the stage, as `JSON`")
	flags.StringVar(&f.source, "source", "", "`DIR` of an application with its app.pipecd.yaml (default: "+
		"example in the directory of the plugin, or an application without files)")
	limit.Var(flags, &f.options.RunLimit, "run-limit", 15*time.Second,
		"cancel a stage that is still running after this time")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show what the plugin prints")
}

// run tests the plugin at a place.
func (f *testFlags) run(cmd *cobra.Command, place string) (err error) {
	if f.options.With != "" && !json.Valid([]byte(f.options.With)) {
		return exit.Usage(errors.New("--with is not JSON"), `give an object such as --with '{"key": "value"}'`)
	}
	selected, err := f.selected()
	if err != nil {
		return err
	}
	plugin, err := f.open(cmd.Context(), place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plugin.remove()) }()
	f.noSource = cmd.Flags().Changed("source") && f.source == ""
	if err := f.takeSource(place, plugin.scratch, cmd.ErrOrStderr()); err != nil {
		return err
	}
	mask, err := newConfigMask(plugin.settings, f.options.With, true)
	if err != nil {
		return err
	}
	output := newPluginOutput(f.verbose, mask, cmd.ErrOrStderr())
	defer func() { err = errors.Join(err, output.flush()) }()
	f.options.Program, f.options.Settings, f.options.Output = plugin.path, plugin.settings, output
	f.options.Mask, f.options.Secrets = mask.text, mask.secret
	f.options.Accept = func(stage string) error { return f.accept(cmd.Context(), plugin, stage, mask) }
	progress := newTestProgress(len(selected), cmd.ErrOrStderr())
	f.options.Begun, f.options.Done = progress.begun, progress.done
	began := time.Now()
	results, err := conformance.Run(cmd.Context(), f.options)
	progress.end()
	if unknown := (*conformance.UnknownStageError)(nil); errors.As(err, &unknown) {
		return exit.Usage(unknown, "name one of its stages with --stage")
	}
	if usage := (*exit.Error)(nil); errors.As(err, &usage) {
		return err
	}
	if err != nil || cmd.Context().Err() != nil {
		return notRun(cmd.Context(), mask, err)
	}
	again := func(id string) string { return mask.text(f.reproduce(cmd, place, id)) }
	for _, file := range f.junit {
		if err := writeTestJUnit(file, results, began, again); err != nil {
			return err
		}
	}
	return showResults(cmd.OutOrStdout(), results, &f.output, again)
}

// takeSource copies the application of --source. Without one it is the example of the plugin, where its directory has
// one that can be copied.
func (f *testFlags) takeSource(place, scratch string, notes io.Writer) (err error) {
	dir, byDefault := f.source, false
	if dir == "" && !f.noSource {
		dir, byDefault = exampleOf(place)
	}
	f.options.Source, err = copiedSource(dir, scratch)
	switch {
	case err != nil && byDefault:
		fmt.Fprintf(notes, "the application %s is not used: %s\n", dir, err)
		f.options.Source, dir = nil, ""
		if err := os.RemoveAll(filepath.Join(scratch, copiedName)); err != nil {
			return fmt.Errorf("remove what was copied of an application: %w", err)
		}
	case err != nil:
		return err
	case byDefault:
		fmt.Fprintf(notes, "testing with the application %s; --source gives another one, --source '' none\n", dir)
	}
	f.options.ApplicationID = applicationID(dir)
	return nil
}

// selected are the cases of --only.
func (f *testFlags) selected() ([]conformance.Case, error) {
	selected, err := conformance.Select(conformance.Cases(), f.options.Only)
	if err != nil {
		return nil, exit.Usage(err, "see the ids with: pipedeck plugin test --list")
	}
	return selected, nil
}

// accept returns the mistakes in --with that the schema of the plugin shows, as wrong usage.
func (f *testFlags) accept(ctx context.Context, plugin *runnable, stage string, mask *configMask) error {
	if f.options.With == "" {
		return nil
	}
	schema, err := pluginflag.SchemaOf(ctx, plugin.path, plugin.scratch)
	if err != nil {
		return exit.Usage(fmt.Errorf("read the schema of the plugin: %w", err),
			"correct what the program prints when it is run as: PROGRAM schema")
	}
	if schema == nil {
		return nil // PipeCD's plugins print none
	}
	var wrong []string
	for _, mistake := range schema.StageMistakes(stage, []byte(f.options.With)) {
		wrong = append(wrong, mask.text(strings.TrimPrefix(mistake.Field+": "+mistake.Message, ": ")))
	}
	if len(wrong) == 0 {
		return nil
	}
	return exit.Usage(fmt.Errorf("--with is wrong for the stage %s:\n  %s", stage, strings.Join(wrong, "\n  ")),
		"correct it; the plugin prints the schema of its options when it is run as: PROGRAM schema")
}

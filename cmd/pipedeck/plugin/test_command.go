// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/limit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/plugins/sdk/conformance"
	"github.com/pipedeck/pipedeck/tui/document"
)

// testFlags say what of a plugin is tested.
type testFlags struct {
	programFlags
	options conformance.Options
	source  string
	verbose bool
}

func newTestCommand() *cobra.Command {
	flags := &testFlags{}
	cmd := &cobra.Command{
		Use: "test PROGRAM|DIR", Short: "Check that a plugin does what piped expects", Args: cobra.ExactArgs(1),
		Long: `Start a plugin of any language as PipeCD's piped does; send the requests that piped sends; run one of
its stages, cancel it, stop the plugin and start it again. DIR is a Go package, or has a piped-plugin.yaml that says
how the plugin is built and run.

The command checks the protocol, not the work of the plugin. So a stage without options may fail, which is noted. A
stage with the options of --with has to succeed within --run-limit; mistakes in them that the plugin's schema shows
are found first.

The stage really runs, so a plugin that deploys does so to the deploy targets of its configuration. It runs in an
empty directory, and gets a copy of the application: files that it writes are removed. Values of its configuration
are masked in all that is printed.`,
		Example: `  pipedeck plugin test ./greeter
  pipedeck plugin test dist/greeter --stage GREET --with '{"names": ["Ada"], "pause": "1m"}' --run-limit 2m
  pipedeck plugin test count.pyz -o json
  pipedeck plugin test ./deployer --config piped-plugin.yaml --source ../my-app`,
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd, args[0]) },
	}
	flags.register(cmd)
	format.AddListFlags(cmd, &flags.output)
	return cmd
}

func (f *testFlags) register(cmd *cobra.Command) {
	f.programFlags.register(cmd)
	cmd.Flags().StringVar(&f.options.Stage, "stage", "", "the stage to run (default: the first that the plugin names)")
	cmd.Flags().StringVar(&f.options.With, "with", "", "what stands under \"with\" of the stage, as `JSON`")
	cmd.Flags().StringVar(&f.source, "source", "", "`DIR` of an application with its app.pipecd.yaml (default: an "+
		"application without files)")
	limit.Var(cmd.Flags(), &f.options.RunLimit, "run-limit", 15*time.Second,
		"cancel a stage that is still running after this time")
	cmd.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show what the plugin prints")
}

// run tests the plugin at a place.
func (f *testFlags) run(cmd *cobra.Command, place string) (err error) {
	if f.options.With != "" && !json.Valid([]byte(f.options.With)) {
		return exit.Usage(errors.New("--with is not JSON"), `give an object such as --with '{"key": "value"}'`)
	}
	plugin, err := f.open(cmd.Context(), place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plugin.remove()) }()
	if f.options.Source, err = copiedSource(f.source, plugin.scratch); err != nil {
		return err
	}
	mask, err := newConfigMask(plugin.settings, f.options.With, true)
	if err != nil {
		return err
	}
	output := newPluginOutput(f.verbose, mask, cmd.ErrOrStderr())
	defer func() { err = errors.Join(err, output.flush()) }()
	f.options.Program, f.options.Settings, f.options.Output = plugin.path, plugin.settings, output
	f.options.Accept = func(stage string) error { return f.accept(cmd.Context(), plugin, stage, mask) }
	checks, err := conformance.Run(cmd.Context(), f.options)
	if unknown := (*conformance.UnknownStageError)(nil); errors.As(err, &unknown) {
		return exit.Usage(unknown, "name one of its stages with --stage")
	}
	if usage := (*exit.Error)(nil); errors.As(err, &usage) {
		return err
	}
	if err != nil || cmd.Context().Err() != nil {
		return notRun(cmd.Context(), mask, err)
	}
	for i := range checks {
		checks[i].Detail = mask.text(checks[i].Detail)
	}
	return showChecks(cmd.OutOrStdout(), checks, &f.output)
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

func showChecks(w io.Writer, checks []conformance.Check, output *format.Output) error {
	failed := 0
	var body [][]string
	var names []string
	all := document.PluginTest{Head: document.NewHead(), Checks: []document.PluginCheck{}}
	for _, check := range checks {
		if check.State == conformance.Failed {
			failed++
		}
		body, names = append(body, []string{string(check.State), check.Name, check.Detail}), append(names, check.Name)
		all.Checks = append(all.Checks, document.PluginCheck{
			Name: check.Name, State: string(check.State), Detail: check.Detail,
		})
	}
	err := output.List(w, func() any { return all }, names, format.Table{Columns: []format.Column{
		{Head: "RESULT", State: true}, {Head: "CHECK", Yield: 1, Least: 20}, {Head: "DETAIL", Text: true},
	}, Rows: body})
	if failed > 0 {
		err = errors.Join(err, exit.With(exit.Failed, fmt.Errorf("%s failed", line.Count(failed, "check")),
			"see docs/plugin-author-guide.md for what a plugin has to do"))
	}
	return err
}

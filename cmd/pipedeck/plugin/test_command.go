// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/limit"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/plugins/sdk/conformance"
)

func newTestCommand() *cobra.Command {
	var flags programFlags
	options := conformance.Options{}
	var source string
	var verbose bool
	cmd := &cobra.Command{
		Use: "test PROGRAM|DIR", Short: "Check that a plugin does what piped expects", Args: cobra.ExactArgs(1),
		Long: `Start a plugin of any language as PipeCD's piped does; send the requests that piped sends; run one of
its stages, cancel it, stop the plugin and start it again. DIR is a Go package, which is built.

A stage may fail: the command checks the protocol, not the work of the plugin. The stage really runs, so a plugin
that deploys does so to the deploy targets of its configuration. It runs in an empty directory, and gets a copy of the
application: files that it writes are removed. Values of its configuration are masked in all that is printed.`,
		Example: `  pipedeck plugin test ./greeter
  pipedeck plugin test dist/greeter --stage GREET --with '{"names": ["Ada"], "pause": "1m"}'
  pipedeck plugin test count.pyz -o json
  pipedeck plugin test ./deployer --config piped-plugin.yaml --source ../my-app`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if !json.Valid([]byte(options.With)) && options.With != "" {
				return exit.Usage(errors.New("--with is not JSON"), `give an object such as --with '{"key": "value"}'`)
			}
			plugin, err := flags.open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, plugin.remove()) }()
			if options.Source, err = copiedSource(source, plugin.scratch); err != nil {
				return err
			}
			mask, err := newConfigMask(plugin.settings, options.With, true)
			if err != nil {
				return err
			}
			options.Program, options.Settings, options.Output = plugin.path, plugin.settings, io.Discard
			if verbose {
				output := &maskedLines{mask: mask, to: cmd.ErrOrStderr()}
				defer func() { err = errors.Join(err, output.flush()) }()
				options.Output = output
			}
			checks, err := conformance.Run(cmd.Context(), options)
			for i := range checks {
				checks[i].Detail = mask.text(checks[i].Detail)
			}
			unknown := (*conformance.UnknownStageError)(nil)
			switch {
			case errors.As(err, &unknown):
				return exit.Usage(unknown, "name one of its stages with --stage")
			case cmd.Context().Err() != nil:
				return exit.Silent(exit.Interrupted)
			case err != nil:
				return exit.With(exit.Failed, errors.New(mask.text(err.Error())),
					"run it again with --verbose to see what the plugin prints")
			}
			return showChecks(cmd.OutOrStdout(), checks, flags.output == "json")
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&options.Stage, "stage", "", "the stage to run (default: the first that the plugin names)")
	cmd.Flags().StringVar(&options.With, "with", "", "what stands under \"with\" of the stage, as `JSON`")
	cmd.Flags().StringVar(&source, "source", "", "`DIR` of an application with its app.pipecd.yaml (default: an "+
		"application without files)")
	limit.Var(cmd.Flags(), &options.RunLimit, "run-limit", 15*time.Second,
		"cancel a stage that is still running after this time")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show what the plugin prints")
	return cmd
}

func showChecks(w io.Writer, checks []conformance.Check, asJSON bool) error {
	var err error
	failed := 0
	var body [][]string
	for _, check := range checks {
		if check.State == conformance.Failed {
			failed++
		}
		body = append(body, []string{string(check.State), check.Name, check.Detail})
	}
	if asJSON {
		err = json.NewEncoder(w).Encode(map[string]any{"checks": checks})
	} else {
		err = format.Table(w, []string{"RESULT", "CHECK", "DETAIL"}, body)
	}
	if failed > 0 {
		err = errors.Join(err, exit.With(exit.Failed, fmt.Errorf("%s failed", line.Count(failed, "check")),
			"see docs/plugin-author-guide.md for what a plugin has to do"))
	}
	return err
}

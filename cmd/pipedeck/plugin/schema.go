// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/tui/document"
)

func newSchemaCommand() *cobra.Command {
	var given []string
	var output format.Output
	cmd := &cobra.Command{
		Use: "schema [application|piped]", Short: "Print the JSON Schema of configuration files, for editors",
		Args: cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs), ValidArgs: []string{"application", "piped"},
		Long: `Print the JSON Schema of application configurations, or of piped configurations, with the options of the
plugins of pipedeck and of PipeCD, and of those given with --plugin. An editor completes and checks files with it.`,
		Example: `  pipedeck plugin schema --plugin greeter=dist/greeter > app.schema.json
  pipedeck plugin schema piped > piped.schema.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := pluginflag.NewChecker(cmd.Context(), given, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			kind := slices.Concat(args, []string{"application"})[0]
			schema, err := options.Compose(kind, c.Catalogue)
			if err != nil {
				return err
			}
			if !output.Machine() {
				_, err = cmd.OutOrStdout().Write(schema)
				return err
			}
			printed := document.EditorSchema{Head: document.NewHead(), Configuration: kind, Plugins: []string{},
				JSONSchema: schema}
			for _, plugin := range c.Catalogue {
				printed.Plugins = append(printed.Plugins, plugin.Name)
			}
			return output.Document(cmd.OutOrStdout(), printed)
		},
	}
	cmd.Flags().StringArrayVar(&given, "plugin", nil,
		"`NAME=PATH` of another plugin, whose program or directory knows its schema; repeatable")
	format.AddFlag(cmd, &output)
	return cmd
}

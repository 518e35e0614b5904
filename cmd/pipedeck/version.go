// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/version"
)

func newVersionCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  pipedeck version -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output == "json" {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]string{
					"version": version.Build(), "go": runtime.Version(),
					"platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "pipedeck %s (%s, %s/%s)\n", version.Build(), runtime.Version(),
				runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	format.AddFlag(cmd, &output)
	return cmd
}

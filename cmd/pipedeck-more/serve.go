// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/devenv/helper"
	"github.com/pipedeck/pipedeck/devenv/helper/server"
	"github.com/pipedeck/pipedeck/system/plainerror"
)

// newServeCommand makes this process the helper of the pipedeck that has started it.
func newServeCommand() *cobra.Command {
	return &cobra.Command{
		Use: helper.Command, Short: "Help the environment that has started this", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(),
				&slog.HandlerOptions{ReplaceAttr: plainerror.Attr}))
			return server.ServeParent(cmd.Context(), logger)
		},
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
)

func newPluginPushCommand() *cobra.Command {
	var files map[string]string
	var output string
	cmd := &cobra.Command{
		Use: "push URL", Short: "Put a plugin into a registry", Args: cobra.ExactArgs(1),
		Long: `Put the binaries of a plugin into a registry as PipeCD does, so that any piped can fetch the one for its
platform. Logins are those of docker login. It prints a url with the digest, which always names this content.`,
		Example: `  pipedeck plugin push oci://registry.example/team/my-plugin:v1 --file linux/amd64=dist/my-plugin`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(files) == 0 {
				return usageError(errors.New("there is no binary to push"), "name one for each platform: --file linux/amd64=PATH")
			}
			fetcher := fetch.New(fetch.Options{Dir: filepath.Join(os.TempDir(), "unused")}) // a push keeps nothing
			digest, err := fetcher.Push(cmd.Context(), args[0], files, nil)
			switch {
			case cmd.Context().Err() != nil:
				return &exitError{code: exitInterrupted}
			case err != nil:
				return &exitError{exitFailed, err, "correct it and push again; what is there already is not sent twice"}
			}
			pinned := args[0] + "@" + digest
			if output == "json" {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]string{"url": pinned, "digest": digest})
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), pinned)
			return err
		},
	}
	cmd.Flags().StringToStringVar(&files, "file", nil, "`OS/ARCH=PATH` of a binary; can be repeated")
	addOutputFlag(cmd, &output)
	return cmd
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/document"
)

func newPipedCommand(t *session.Target) *cobra.Command {
	cmd := &cobra.Command{Use: "piped", Short: "Register further pipeds"}
	cmd.AddCommand(newPipedRegisterCommand(t))
	return cmd
}

func newPipedRegisterCommand(t *session.Target) *cobra.Command {
	var keyFile, description string
	var output format.Output
	cmd := &cobra.Command{
		Use: "register NAME", Short: "Register a further piped at the environment", Args: cobra.ExactArgs(1),
		Long: `Register a further piped at the environment, of this version or of PipeCD v0 or v1. Its key is written to
a file that only you can read, and kept nowhere else. The output is the beginning of its configuration.`,
		Example: "  pipedeck piped register legacy\n  pipedeck piped register legacy --key-file ~/legacy.key",
		RunE: func(cmd *cobra.Command, args []string) error {
			if keyFile == "" {
				keyFile = args[0] + ".key"
			}
			path, err := filepath.Abs(keyFile)
			if err != nil {
				return exit.Usage(err, "give another file with --key-file")
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), session.CallTimeout)
			defer cancel()
			_, conn, err := t.Connect(ctx)
			if err != nil {
				return err
			}
			defer conn.Close()
			registered, err := registerPiped(ctx, apiservice.NewAPIServiceClient(conn), args[0], description, path)
			if err != nil {
				return err
			}
			return printRegistered(cmd.OutOrStdout(), document.RegisteredPiped{
				Head: document.NewHead(), ID: registered.GetId(), Name: args[0], Project: workspace.ProjectID,
				KeyFile: path, Address: conn.CanonicalTarget()[len("passthrough:///"):],
			}, &output)
		},
	}
	cmd.Flags().StringVar(&keyFile, "key-file", "", "new file for the key (default: NAME.key)")
	cmd.Flags().StringVar(&description, "description", "", "what the piped is for")
	format.AddFlag(cmd, &output)
	return cmd
}

func printRegistered(w io.Writer, p document.RegisteredPiped, output *format.Output) error {
	if output.Machine() {
		return output.Document(w, p)
	}
	_, err := fmt.Fprintf(w, `apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: %s
  pipedID: %s
  pipedKeyFile: %q
  apiAddress: %s
`, p.Project, p.ID, p.KeyFile, p.Address)
	return err
}

// registerPiped writes the key of a new piped to a file that must not exist.
func registerPiped(ctx context.Context, api apiservice.APIServiceClient,
	name, description, keyFile string) (_ *apiservice.RegisterPipedResponse, err error) {
	file, err := os.OpenFile(keyFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, exit.Usage(fmt.Errorf("%s exists already", keyFile), "choose another file with --key-file")
	}
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("create the key file: %w", err), "choose another file with --key-file")
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(err, os.Remove(keyFile)) // made above, and of no use
		}
	}()
	registered, err := api.RegisterPiped(ctx, &apiservice.RegisterPipedRequest{Name: name, Desc: description})
	if err != nil {
		return nil, fmt.Errorf("register piped %s: %w", name, err)
	}
	_, err = file.WriteString(registered.GetKey())
	return registered, err
}

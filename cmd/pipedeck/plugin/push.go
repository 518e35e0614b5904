// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/tui/document"
)

func newPushCommand() *cobra.Command {
	var files map[string]string
	var signKey, comment string
	var output format.Output
	cmd := &cobra.Command{
		Use: "push URL", Short: "Push a plugin to a registry", Args: cobra.ExactArgs(1),
		Long: `Put the binaries of a plugin into a registry as PipeCD does, so that any piped can fetch the one for its
platform. Logins are those of docker login. It prints a url with the digest, which always names this content.
A directory in place of a binary is packed as pipedeck plugin pack does.
With --sign-key the binaries are signed as pipedeck plugin sign does, before the tag is set.`,
		Example: `  pipedeck plugin push oci://registry.example/team/my-plugin:v1 --file linux/amd64=dist/my-plugin
  pipedeck plugin push oci://registry.example/team/my-plugin:v1 \
    --file linux/amd64=dist/my-plugin --sign-key release.key`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(files) == 0 {
				return exit.Usage(errors.New("there is no binary to push"),
					"name one for each platform: --file linux/amd64=PATH")
			}
			var signer *fetch.Signer
			if signKey != "" {
				key, err := loadKey(cmd.Context(), signKey, passwordSource{in: cmd.InOrStdin(),
					prompt: cmd.ErrOrStderr()})
				if err != nil {
					return err
				}
				signer = newSigner(key, comment, args[0])
			}
			scratch, err := os.MkdirTemp("", "pipedeck-push-")
			if err != nil {
				return fmt.Errorf("make a directory for what is packed: %w", err)
			}
			defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
			if files, err = packDirectories(cmd.Context(), files, scratch); err != nil {
				return err
			}
			digest, err := remoteFetcher().Push(cmd.Context(), args[0], files, signer)
			switch {
			case cmd.Context().Err() != nil:
				return exit.Silent(exit.Interrupted)
			case err != nil:
				return exit.With(exit.Failed, err, "correct it and push again; what is there already is not sent twice")
			}
			pinned := args[0] + "@" + digest
			if output.Machine() {
				return output.Document(cmd.OutOrStdout(), document.Push{
					Head: document.NewHead(), URL: pinned, Digest: digest,
				})
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), pinned)
			return err
		},
	}
	cmd.Flags().StringToStringVar(&files, "file", nil, "`OS/ARCH=PATH` of a binary or a directory; can be repeated")
	cmd.Flags().StringVar(&signKey, "sign-key", "", "`FILE` of a private key, to sign the binaries with")
	cmd.Flags().StringVar(&comment, "comment", "",
		"with --sign-key: a line that signatures of minisign hold (default the url)")
	format.AddFlag(cmd, &output)
	return cmd
}

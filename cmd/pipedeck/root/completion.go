// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package root

import (
	"io"

	"github.com/spf13/cobra"
)

// shell is a shell that can complete commands of pipedeck.
type shell struct {
	name, long, example string
	write               func(root *cobra.Command, w io.Writer) error
}

// shells are in the order of the help.
var shells = []shell{
	{
		"bash", "The script needs bash 4.1 or newer and the package bash-completion.",
		"  source <(pipedeck completion bash)\n" +
			"  pipedeck completion bash > ~/.local/share/bash-completion/completions/pipedeck",
		func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	},
	{
		"zsh", "The file must be in a directory of $fpath, and ~/.zshrc must run compinit after it has set $fpath.",
		"  source <(pipedeck completion zsh)\n" +
			"  pipedeck completion zsh > ~/.zsh/completions/_pipedeck",
		func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) },
	},
	{
		"fish", "fish reads the file when it starts.",
		"  pipedeck completion fish | source\n" +
			"  pipedeck completion fish > ~/.config/fish/completions/pipedeck.fish",
		func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	},
	{
		"powershell", "Add the script to the file that $PROFILE names.",
		"  pipedeck completion powershell | Out-String | Invoke-Expression",
		func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) },
	},
}

// newCompletionCommand takes the place of the completion command of cobra.
func newCompletionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "completion", Short: "Print the completion script of a shell",
		Long: `Print the script with which a shell completes commands, flags and their values: the applications, stages,
deployments and plugins of the running environment, environments, contexts, samples and files.
The script asks this program, so it stays right when pipedeck is updated.`,
		Example: `  source <(pipedeck completion bash)         this bash only
  source <(pipedeck completion zsh)          this zsh only
  pipedeck completion fish | source          this fish only
  pipedeck completion bash --help            how to install it`,
	}
	for _, s := range shells {
		cmd.AddCommand(&cobra.Command{
			Use: s.name, Short: "Print the completion script of " + s.name,
			Long:    "Print the completion script of " + s.name + ". " + s.long,
			Example: s.example, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return s.write(cmd.Root(), cmd.OutOrStdout()) },
		})
	}
	return cmd
}

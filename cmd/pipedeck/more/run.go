// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package more

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/helper"
)

// program is the file that has the commands.
const program = helper.Program

// componentPrograms is the part of an environment that compiles programs.
const componentPrograms = "programs"

// NewCommand returns a command that becomes pipedeck-more with args, which begin with the name of a command or of what
// is about it. It returns only when that is not possible.
func NewCommand(t *session.Target, name string, args []string) *cobra.Command {
	return &cobra.Command{
		Use: "pipedeck", DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := pluginflag.ProgramDir()
			if err != nil {
				return exit.Usage(err, "build it with: make build")
			}
			path := filepath.Join(dir, program)
			err = syscall.Exec(path, append([]string{os.Args[0]}, args...), os.Environ())
			if completes(args) {
				// A shell would show an error in the command line of the user.
				_, err := fmt.Fprintf(cmd.OutOrStdout(), ":%d\n", cobra.ShellCompDirectiveNoFileComp)
				return err
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return exit.Usage(fmt.Errorf("run %s: %w", path, err), "build it with: make build")
			}
			// The flags that choose an environment are among those of the command.
			flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
			flags.ParseErrorsAllowlist.UnknownFlags = true
			t.Register(flags)
			_ = flags.Parse(args)
			return missing(name, path, compilation(cmd.Context(), t))
		},
	}
}

// compilation returns the part of the environment that compiles pipedeck-more; nil when none does so.
func compilation(ctx context.Context, t *session.Target) *deckv1.Component {
	client, conn, err := t.Connect(ctx)
	if err != nil {
		return nil
	}
	defer conn.Close()
	state, err := session.ReadState(ctx, client)
	if err != nil {
		return nil
	}
	for _, component := range state.Components() {
		if component.GetName() == componentPrograms {
			return component
		}
	}
	return nil
}

// missing is the error of a command whose program is not there.
func missing(name, path string, compiling *deckv1.Component) error {
	switch compiling.GetState() {
	case deckv1.Component_STATE_PENDING, deckv1.Component_STATE_STARTING:
		progress := compiling.GetDetail()
		if compiling.GetTotal() > 0 {
			progress = fmt.Sprintf("%d of %d packages", compiling.GetDone(), compiling.GetTotal())
		}
		return exit.Usage(fmt.Errorf("%s is still being compiled: %s", name, progress),
			"see how far it is with: pipedeck status")
	}
	return exit.Usage(fmt.Errorf("%s is in the program %s, which does not exist", name, path),
		"copy it from where pipedeck comes from, or build it in a clone with: make build")
}

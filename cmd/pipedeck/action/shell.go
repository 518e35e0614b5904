// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/state"
)

func newShellCommand(t *session.Target) *cobra.Command {
	var printDir bool
	cmd := &cobra.Command{
		Use: "shell [APP|DEPLOYMENT] [STAGE]", Short: "Open a shell where a paused stage works",
		Args: cobra.MaximumNArgs(2),
		Long: "Open $SHELL in the source directory of a stage that is paused at a breakpoint, with variables " +
			"about the stage\n(PIPEDECK_STAGE_…). What you change there before a stage is what the stage gets. " +
			"Leave the shell to return; the\nstage stays paused. The directory is removed once the stage goes on. " +
			"It has the decrypted secrets of the\napplication.",
		Example: "  pipedeck shell\n  pipedeck shell shop deploy\n  cd \"$(pipedeck shell --print-dir)\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.RunLong(cmd, func(ctx context.Context, s *session.Session) error {
				w, err := continuing().find(resolve.New(s, cmd, args))
				if err != nil {
					return err
				}
				dir := w.stage.GetPause().GetDirectory()
				if err := usableDirectory(dir); err != nil {
					return err
				}
				if printDir {
					_, err := fmt.Fprintln(s.Out, dir)
					return err
				}
				return openShell(ctx, cmd, s, w)
			})
		},
	}
	cmd.Flags().BoolVar(&printDir, "print-dir", false, "print the directory in place of opening a shell there")
	return cmd
}

// usableDirectory says why there is no shell in a directory.
func usableDirectory(dir string) error {
	if dir == "" {
		return exit.With(exit.Failed, errors.New("the paused stage has no source directory"),
			"see why it has none in the log of piped: pipedeck status")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return exit.With(exit.Failed, fmt.Errorf("the source directory %s is not on this machine", dir),
			"run pipedeck shell on the machine where piped runs, as the user who runs it")
	}
	return nil
}

// openShell runs the user's shell until the user leaves it. Its exit code is not that of a failed command: people leave
// a shell after whatever went wrong there.
func openShell(ctx context.Context, cmd *cobra.Command, s *session.Session, w waitingStage) error {
	program := cmp.Or(os.Getenv("SHELL"), "/bin/sh")
	shell := exec.CommandContext(ctx, program)
	shell.Dir = w.stage.GetPause().GetDirectory()
	shell.Env = append(os.Environ(), sortedVariables(stageVariables(s, w.deployment, w.stage))...)
	shell.Stdin, shell.Stdout, shell.Stderr = cmd.InOrStdin(), s.Out, s.Err
	fmt.Fprintf(s.Err, "%s is %s; exit returns, pipedeck continue%s goes on\n", w.deployment.GetApplicationName(),
		state.PauseText(w.stage), s.Flags)
	err := shell.Run()
	var left *exec.ExitError
	if err == nil || errors.As(err, &left) {
		return nil
	}
	return exit.With(exit.Failed, fmt.Errorf("start the shell %s: %w", program, err), "set SHELL to a shell")
}

// stageVariables are what a shell learns of a paused stage.
func stageVariables(s *session.Session, d *deckv1.Deployment, stage *deckv1.Stage) map[string]string {
	pause := stage.GetPause()
	environment := s.State.Environment()
	all := map[string]string{
		"PIPEDECK_STAGE_PAUSED": state.BreakWord(pause.GetWhen()), "PIPEDECK_STAGE_APP": d.GetApplicationName(),
		"PIPEDECK_STAGE_DEPLOYMENT": d.GetId(), "PIPEDECK_STAGE_NAME": state.StageWord(stage),
		"PIPEDECK_STAGE_ID": stage.GetId(), "PIPEDECK_STAGE_TYPE": stage.GetName(),
		"PIPEDECK_STAGE_ATTEMPT": fmt.Sprint(pause.GetAttempt()), "PIPEDECK_STAGE_RESULT": pause.GetResult(),
		"PIPEDECK_STAGE_COMMIT":         d.GetCommit().GetHash(),
		"PIPEDECK_STAGE_RUNNING_COMMIT": d.GetRunningCommit(),
		"PIPEDECK_STAGE_DIR":            pause.GetDirectory(),
		"PIPEDECK_STAGE_REPOSITORY":     pause.GetRepositoryDirectory(),
		"PIPEDECK_STAGE_RUNNING_DIR":    pause.GetRunningDirectory(),
		"PIPEDECK_STAGE_WITH":           pause.GetOptions(),
		// Commands in the shell find the environment.
		"PIPEDECK_NAME": environment.GetName(),
	}
	if dir := environment.GetStateDir(); dir != "" {
		all["PIPEDECK_STATE_DIR"] = filepath.Dir(dir)
	}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// sortedVariables are variables as NAME=VALUE.
func sortedVariables(all map[string]string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, name+"="+all[name])
	}
	return list
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/defaults"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/environment"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/limit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/plugins/sdk/recording"
)

// recordFlags say what is recorded, and where to.
type recordFlags struct {
	environment.Flags
	file, launcher, output string
	maxMiB                 int64
	timeout                time.Duration
	// between is for the process that piped starts in place of the plugin, and keys is the piped configuration with the
	// key of the secrets that it masks.
	between, keys string
}

func newRecordCommand(t *session.Target) *cobra.Command {
	flags := &recordFlags{}
	cmd := &cobra.Command{
		Use: "record NAME|NAME=PROGRAM|DIR [REPOSITORY]", Short: "Record the calls between piped and a plugin",
		Long: `Bring up an environment, deploy every application at HEAD as pipedeck ci does, and write every call
between piped and the plugin to a file: JSON lines, of which the last are those of the end. pipedeck
plugin replay plays them.

Secrets are masked: those that applications keep encrypted, and values of the plugin's configuration under keys such
as password or token. Other data of deployments is in the file, which only you may read.

NAME alone brings up nothing: it writes what the piped of the running environment remembers of the
plugin's last calls (see pipedeck plugin calls).

With --launcher, nothing is run: it writes a program to name in the configuration of any PipeCD v1 piped in place of
the plugin's. --piped-config is that configuration then: its key decrypts the secrets, so that they are masked.`,
		Example: `  pipedeck plugin record greeter=./greeter ~/src/greetings --file calls.jsonl --cluster none
  pipedeck plugin record wait=bin/plugins/wait --sample hello-world --file calls.jsonl
  pipedeck plugin record greeter --file calls.jsonl
  pipedeck plugin record greeter=dist/greeter --file /tmp/calls.jsonl --launcher /opt/plugins/greeter-recorded`,
		Args: func(cmd *cobra.Command, args []string) error {
			if flags.between != "" {
				return nil // piped's arguments
			}
			return cobra.RangeArgs(1, 2)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := filepath.Abs(flags.file)
			switch {
			case flags.file == "" || err != nil:
				return exit.Usage(errors.New("no file is given"), "name it with --file calls.jsonl")
			case flags.maxMiB <= 0:
				return exit.Usage(fmt.Errorf("--max-size %d is not a size", flags.maxMiB), "give a number of MiB")
			}
			flags.file, flags.keys = file, flags.PipedConfig()
			switch {
			case flags.between != "":
				return flags.standBetween(cmd.Context(), args)
			case flags.launcher != "":
				return flags.writeLauncherOnly(args)
			case len(args) == 1 && !strings.Contains(args[0], "="):
				return flags.recordRunning(cmd, t, args)
			}
			return flags.run(cmd, t, args, defaults.GivenForCommand(cmd.Flags().Lookup("name")))
		},
	}
	flags.Register(cmd)
	own := cmd.Flags()
	own.StringVarP(&flags.file, "file", "f", "", "where to write; a file that is there is replaced")
	own.Int64Var(&flags.maxMiB, "max-size", 64, "`MIB` at which the file grows no more")
	own.StringVar(&flags.launcher, "launcher", "",
		"write a program to `FILE` that records under any piped, and run nothing")
	own.StringVar(&flags.output, "output", "auto", "plain, reader (sentences), json (one event a line); auto is plain")
	limit.Var(own, &flags.timeout, "timeout", 10*time.Minute, "give up after this time")
	own.StringVar(&flags.between, "between", "", "")
	_ = own.MarkHidden("between")
	return cmd
}

// run deploys everything with the plugin under a recorder.
func (f *recordFlags) run(cmd *cobra.Command, t *session.Target, args []string, named bool) (err error) {
	ctx := cmd.Context()
	mode, err := environment.ChooseOutput(f.output, false)
	if err != nil {
		return err
	}
	if !named {
		t.Name = "record-" + uuid.NewString()[:8]
	}
	w, err := t.Workspace()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "pipedeck-record-")
	if err != nil {
		return fmt.Errorf("make a directory for the recorder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	name, program, err := f.program(ctx, args[0], scratch)
	if err != nil {
		return err
	}
	if err := os.Remove(f.file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return exit.Usage(fmt.Errorf("replace the recording: %w", err), "give another --file")
	}
	f.keys = w.PipedConfig()
	launcher := filepath.Join(scratch, "launcher")
	if err := f.writeLauncher(launcher, program); err != nil {
		return err
	}
	f.AddPlugin(name + "=" + launcher)
	err = (&environment.Setup{Target: t, Flags: &f.Flags, Mode: mode, Args: args[1:], Out: cmd.OutOrStdout(),
		Err: cmd.ErrOrStderr()}).CI(ctx, f.timeout)
	if there, ferr := pluginflag.IsFile(f.file); ferr == nil && there {
		fmt.Fprintf(cmd.ErrOrStderr(), "recorded in %s; play it with: pipedeck plugin replay %s %s\n", f.file, f.file,
			strings.SplitN(args[0], "=", 2)[1])
	}
	return err
}

// program is the plugin's own, built when it is given as a directory.
func (f *recordFlags) program(ctx context.Context, given, scratch string) (name, program string, err error) {
	plugin, err := pluginflag.Parse(given)
	if err != nil {
		return "", "", err
	}
	path, local := strings.CutPrefix(plugin.URL, "file://")
	if plugin.Source != "" {
		path, local = filepath.Join(scratch, "plugin"), true
		if err := pluginflag.Build(ctx, plugin.Source, path); err != nil {
			return "", "", err
		}
		if err := f.ConfigureAdjacent(plugin); err != nil {
			return "", "", err
		}
	}
	if !local {
		return "", "", exit.Usage(fmt.Errorf("%s is not on this machine", plugin.URL),
			"fetch it with: pipedeck plugin install; then give its path")
	}
	return plugin.Name, path, pluginflag.CheckProgram("plugin "+plugin.Name, path, "build it and give the program")
}

func (f *recordFlags) writeLauncherOnly(args []string) error {
	plugin, err := pluginflag.Parse(args[0])
	if err != nil {
		return err
	}
	path, local := strings.CutPrefix(plugin.URL, "file://")
	if !local {
		return exit.Usage(fmt.Errorf("%s is not a program on this machine", args[0]), "build it and give NAME=PROGRAM")
	}
	if err := pluginflag.CheckProgram("plugin "+plugin.Name, path, "build it and give the program"); err != nil {
		return err
	}
	return f.writeLauncher(f.launcher, path)
}

// writeLauncher makes the program that piped starts: it begins a recorder in front of the plugin.
func (f *recordFlags) writeLauncher(path, program string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find my own program: %w", err)
	}
	command := []string{self, "plugin", "record", "--between", program, "--file", f.file, "--max-size",
		fmt.Sprint(f.maxMiB)}
	if f.keys != "" {
		command = append(command, "--piped-config", f.keys)
	}
	text := "#!/bin/sh\n# Runs a plugin and records the calls between it and piped.\nexec " + shellQuoted(command) +
		" -- \"$@\"\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		return exit.Usage(fmt.Errorf("write the launcher: %w", err), "give another file with --launcher")
	}
	return nil
}

// shellQuoted has each word as it is for a POSIX shell.
func shellQuoted(words []string) string {
	quoted := make([]string, 0, len(words))
	for _, word := range words {
		quoted = append(quoted, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
	}
	return strings.Join(quoted, " ")
}

// standBetween is the recorder: piped has started it in place of the plugin.
func (f *recordFlags) standBetween(ctx context.Context, args []string) error {
	mask := newRecordMask(f.keys)
	recorder := &recording.Recorder{
		Program: f.between, Args: args, Output: os.Stderr, Settle: mask.settle,
		Writer: recording.WriterOptions{File: f.file, MaxBytes: f.maxMiB << 20, See: mask.see, Mask: mask.text},
	}
	if err := recorder.Run(ctx); err != nil {
		return exit.With(exit.Failed, err, "see what the plugin printed above")
	}
	return nil
}

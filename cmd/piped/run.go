// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/agent"
	"github.com/pipedeck/pipedeck/piped/breakpoint"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/configsource"
	"github.com/pipedeck/pipedeck/piped/failpoint"
	"github.com/pipedeck/pipedeck/piped/fault"
	"github.com/pipedeck/pipedeck/piped/plugincalls"
	"github.com/pipedeck/pipedeck/piped/pluginhost/reattach"
	"github.com/pipedeck/pipedeck/system/inputfile"
)

func runCommand(telemetry *telemetryFlags) *cobra.Command {
	f := &runFlags{telemetry: telemetry}
	command := &cobra.Command{
		Use:     "run",
		Aliases: []string{"piped"}, // PipeCD v0's name, which its launcher uses for v1, too
		Short:   "Start the agent",
		Example: runExamples,
		Args:    noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := f.check(command); err != nil {
				return &usageError{err}
			}
			return f.run(command.Context(), command.InOrStdin())
		},
	}
	f.register(command.Flags())
	return command
}

func (f *runFlags) run(ctx context.Context, stdin io.Reader) error {
	logger, err := newLogger(os.Stderr, f.telemetry.logLevel, f.telemetry.logEncoding)
	if err != nil {
		return &usageError{err}
	}
	if f.addLoginUserToPasswd {
		if err := addLoginUser(); err != nil {
			return fmt.Errorf("--add-login-user-to-passwd: %w", err)
		}
	}
	piped, err := f.configuration(ctx)
	if err != nil {
		return err
	}
	for _, warning := range piped.Warnings {
		logger.Warn("piped configuration", "problem", warning.Error())
	}
	if err := f.directories(); err != nil {
		return err
	}
	if f.exitWithStdin {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		// Not waited for: a read of standard input cannot be interrupted.
		go func() {
			_, _ = io.Copy(io.Discard, stdin)
			cancel(errors.New("standard input has ended"))
		}()
	}
	failpoints, err := failpoint.Parse(os.Getenv(failpoint.Variable))
	if err != nil {
		return &usageError{fmt.Errorf("read %s: %w", failpoint.Variable, err)}
	}
	if failpoints != nil {
		logger.Warn("failpoints are set: piped stops or ends where they say", "variable", failpoint.Variable)
	}
	faults, err := wantedFaults(logger)
	if err != nil {
		return err
	}
	options := f.options(piped)
	if options.Plugins.Reattach, err = wantedProcesses(logger); err != nil {
		return err
	}
	options.Plugins.ReattachFile = os.Getenv(reattach.FileVariable)
	options.Failpoints, options.Faults, options.Logger = failpoints, faults, logger
	options.NoPluginCalls = os.Getenv(plugincalls.Variable) == "off"
	if options.Breakpoints, err = wantedBreakpoints(logger); err != nil {
		return err
	}
	a, err := agent.New(options)
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// wantedFaults are those of the environment variable.
func wantedFaults(logger *slog.Logger) (*fault.Set, error) {
	text := os.Getenv(fault.Variable)
	if text == "" {
		return nil, nil
	}
	faults, err := fault.Parse(strings.Split(text, "\n"))
	if err != nil {
		return nil, &usageError{fmt.Errorf("read %s: %w", fault.Variable, err)}
	}
	logger.Warn("faults are injected on purpose", "variable", fault.Variable, "rules", text)
	return faults, nil
}

// wantedProcesses are those of the environment variable, which is not for the processes that piped starts.
func wantedProcesses(logger *slog.Logger) ([]reattach.Target, error) {
	targets, err := reattach.ParseAll(os.Getenv(reattach.Variable))
	if err != nil {
		return nil, &usageError{fmt.Errorf("read %s: %w", reattach.Variable, err)}
	}
	for _, target := range targets {
		logger.Warn("a process that piped has not started is used for a plugin", "plugin", target.Plugin, "address",
			target.Address)
	}
	return targets, os.Unsetenv(reattach.Variable)
}

// wantedBreakpoints are those of the environment variable.
func wantedBreakpoints(logger *slog.Logger) ([]*agentv1.Breakpoint, error) {
	text := os.Getenv(breakpoint.Variable)
	if text == "" {
		return nil, nil
	}
	list, err := breakpoint.Parse(strings.Split(strings.TrimSpace(text), "\n"))
	if err != nil {
		return nil, &usageError{fmt.Errorf("read %s: %w", breakpoint.Variable, err)}
	}
	logger.Warn("stages pause at breakpoints", "variable", breakpoint.Variable, "breakpoints", text)
	return list, nil
}

// options are those that the flags give.
func (f *runFlags) options(piped *config.Piped) agent.Options {
	return agent.Options{
		Config:          piped,
		Version:         version,
		LauncherVersion: f.launcherVersion,
		WorkDir:         f.workDir,
		ControlPlane: agent.ControlPlaneOptions{
			Insecure: f.insecure, CertFile: f.certFile, MaxReceiveBytes: f.maxRecvMsgSize,
		},
		Admin: agent.AdminOptions{Host: f.adminHost, Port: f.adminPort},
		Plugins: agent.PluginOptions{
			ServicePort:  f.pluginServicePort,
			ToolsDir:     f.toolsDir,
			LogDir:       f.logFileDir,
			GracePeriod:  f.gracePeriod,
			StartTimeout: f.pluginStartTimeout,
			HangTimeout:  f.pluginHangTimeout,
			NoReload:     !f.pluginReload,
			Refetch:      f.forcePluginRedownload,
		},
		NoMetrics: !f.telemetry.metrics,
	}
}

// configuration reads the one source that the flags name. Mistakes of the user are usage errors.
func (f *runFlags) configuration(ctx context.Context) (*config.Piped, error) {
	piped, err := f.source.Load(ctx)
	if err != nil && ctx.Err() == nil && isMistake(err) {
		return nil, &usageError{err}
	}
	return piped, err
}

// isMistake reports whether the user can only correct the flags or the configuration. Another start may well succeed
// after the other errors: the cloud did not answer, the disk or the network of the file failed, no file descriptor was
// left.
func isMistake(err error) bool {
	if cloud := (*configsource.CloudError)(nil); errors.As(err, &cloud) {
		return false
	}
	if kind := (*inputfile.KindError)(nil); errors.As(err, &kind) {
		return true
	}
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		return slices.ContainsFunc([]error{
			fs.ErrNotExist, fs.ErrPermission, syscall.EISDIR, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG,
		}, func(mistake error) bool { return errors.Is(err, mistake) })
	}
	return true
}

// directories fills in the defaults.
func (f *runFlags) directories() error {
	if f.workDir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("find the user's cache directory: %w; give one with --work-dir", err)
		}
		f.workDir = filepath.Join(cache, "piped")
	}
	dir, err := filepath.Abs(f.workDir)
	if err != nil {
		return fmt.Errorf("find the work directory: %w", err)
	}
	f.workDir = dir
	if f.toolsDir == "" {
		f.toolsDir = filepath.Join(dir, "tools")
	}
	return nil
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/piped/agent"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/failpoint"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
)

// runFlags are the flags of PipeCD v1's "piped run", and below them ours.
type runFlags struct {
	configFile, configData, configGCPSecret, configAWSSecret string
	insecure                                                 bool
	certFile                                                 string
	adminPort, pluginServicePort                             int
	toolsDir                                                 string
	gracePeriod                                              time.Duration
	addLoginUserToPasswd                                     bool
	launcherVersion                                          string
	forcePluginRedownload                                    bool
	logLevel, logEncoding                                    string
	metrics, profile, profileDebugLogging                    bool
	profilerCredentialsFile                                  string

	workDir            string
	exitWithStdin      bool
	pluginStartTimeout time.Duration
	logFileDir         string
}

func runCommand() *cobra.Command {
	f := &runFlags{}
	command := &cobra.Command{
		Use:   "run",
		Short: "Start the agent",
		Args:  cobra.NoArgs,
		RunE:  func(command *cobra.Command, _ []string) error { return f.run(command.Context(), command.InOrStdin()) },
	}
	flags := command.Flags()
	flags.StringVar(&f.configFile, "config-file", "", "piped configuration")
	flags.StringVar(&f.configData, "config-data", "", "piped configuration in base64, in place of a file")
	flags.StringVar(&f.configGCPSecret, "config-gcp-secret", "", "not supported: name of a secret with the configuration")
	flags.StringVar(&f.configAWSSecret, "config-aws-secret", "", "not supported: name of a secret with the configuration")
	flags.BoolVar(&f.insecure, "insecure", false, "talk to the control plane without TLS")
	flags.StringVar(&f.certFile, "cert-file", "", "certificates to trust in place of the system's")
	flags.IntVar(&f.adminPort, "admin-port", agent.DefaultAdminPort, "port of /healthz, /metrics and /version on 127.0.0.1; 0 takes a free one")
	flags.IntVar(&f.pluginServicePort, "plugin-service-port", pluginservice.DefaultPort, "port for plugins on 127.0.0.1; 0 takes a free one")
	flags.StringVar(&f.toolsDir, "tools-dir", "", "where tools are installed (default WORK-DIR/tools)")
	flags.DurationVar(&f.gracePeriod, "grace-period", pluginhost.DefaultGracePeriod, "time for plugins to stop")
	flags.BoolVar(&f.addLoginUserToPasswd, "add-login-user-to-passwd", false, "no effect; kept for PipeCD's charts")
	flags.StringVar(&f.launcherVersion, "launcher-version", "", "version of PipeCD's launcher, a label of metrics")
	flags.BoolVar(&f.forcePluginRedownload, "force-plugin-redownload", false, "no effect: a changed plugin binary is always taken")
	flags.BoolVar(&f.metrics, "metrics", true, "no effect; kept for PipeCD's charts")
	flags.BoolVar(&f.profile, "profile", false, "no effect; kept for PipeCD's charts")
	flags.BoolVar(&f.profileDebugLogging, "profile-debug-logging", false, "no effect; kept for PipeCD's charts")
	flags.StringVar(&f.profilerCredentialsFile, "profiler-credentials-file", "", "no effect; kept for PipeCD's charts")
	flags.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&f.logEncoding, "log-encoding", "humanize", "json, humanize or console")
	flags.StringVar(&f.workDir, "work-dir", "", "mirrors, sources, plugin binaries and tools (default piped in the user's cache directory)")
	flags.BoolVar(&f.exitWithStdin, "exit-with-stdin", false, "stop when standard input ends, and so with the parent process")
	flags.DurationVar(&f.pluginStartTimeout, "plugin-start-timeout", pluginhost.DefaultStartTimeout, "time for a plugin to answer after its start")
	flags.StringVar(&f.logFileDir, "log-file-dir", "", "directory for one file of output per plugin")
	return command
}

func (f *runFlags) run(ctx context.Context, stdin io.Reader) error {
	logger, err := newLogger(os.Stderr, f.logLevel, f.logEncoding)
	if err != nil {
		return &usageError{err}
	}
	piped, err := f.configuration()
	if err != nil {
		return &usageError{err}
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
	a, err := agent.New(agent.Options{
		Config:             piped,
		Version:            version,
		LauncherVersion:    f.launcherVersion,
		Insecure:           f.insecure,
		CertFile:           f.certFile,
		AdminPort:          f.adminPort,
		PluginServicePort:  f.pluginServicePort,
		WorkDir:            f.workDir,
		ToolsDir:           f.toolsDir,
		LogDir:             f.logFileDir,
		GracePeriod:        f.gracePeriod,
		PluginStartTimeout: f.pluginStartTimeout,
		Failpoints:         failpoints,
		Logger:             logger,
	})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// configuration reads the one source that the flags name.
func (f *runFlags) configuration() (*config.Piped, error) {
	if f.configGCPSecret != "" || f.configAWSSecret != "" {
		return nil, errors.New("--config-gcp-secret and --config-aws-secret are not supported: fetch the secret yourself and give --config-file or --config-data")
	}
	switch {
	case f.configFile != "" && f.configData != "":
		return nil, errors.New("--config-file and --config-data exclude each other: give one of them")
	case f.configFile != "":
		return config.LoadPiped(f.configFile)
	case f.configData != "":
		data, err := base64.StdEncoding.DecodeString(f.configData)
		if err != nil {
			return nil, fmt.Errorf("--config-data is not base64: %w", err)
		}
		return config.ParsePiped(data, "--config-data")
	default:
		return nil, errors.New("--config-file is missing: name the piped configuration")
	}
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

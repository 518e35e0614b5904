// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pipedeck/pipedeck/piped/agent"
	"github.com/pipedeck/pipedeck/piped/configsource"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
)

// runFlags are the flags of PipeCD v1's "piped run", and below them ours.
type runFlags struct {
	telemetry *telemetryFlags

	source                       configsource.Source
	insecure                     bool
	certFile                     string
	adminPort, pluginServicePort int
	toolsDir                     string
	gracePeriod                  time.Duration
	addLoginUserToPasswd         bool
	launcherVersion              string
	forcePluginRedownload        bool

	adminHost          string
	maxRecvMsgSize     int
	workDir            string
	exitWithStdin      bool
	pluginStartTimeout time.Duration
	pluginHangTimeout  time.Duration
	pluginReload       bool
	logFileDir         string

	// Of PipeCD v0.
	defaultKubernetesProvider bool
	manifestCacheCount        int
}

// telemetryFlags are PipeCD's flags of every command.
type telemetryFlags struct {
	logLevel, logEncoding        string
	metrics                      bool
	profile, profileDebugLogging bool
	profilerCredentialsFile      string
}

func (f *telemetryFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&f.logEncoding, "log-encoding", "humanize", "json, humanize or console")
	flags.BoolVar(&f.metrics, "metrics", true, "measure; without, /metrics is empty and so are the figures that "+
		"the control plane gets")
	flags.BoolVar(&f.profile, "profile", false, "not offered: profiles are not sent to Google Cloud; "+
		"/debug/pprof/ has them")
	flags.BoolVar(&f.profileDebugLogging, "profile-debug-logging", false, "only with --profile")
	flags.StringVar(&f.profilerCredentialsFile, "profiler-credentials-file", "", "only with --profile")
}

func (f *telemetryFlags) check() error {
	if f.profile {
		return errors.New("--profile: sending profiles to Google Cloud Profiler is not offered; leave the flag " +
			"out and read them with: go tool pprof http://127.0.0.1:9085/debug/pprof/profile")
	}
	return nil
}

func (f *runFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.source.File, configsource.FlagFile, "", "piped configuration")
	flags.StringVar(&f.source.Data, configsource.FlagData, "", "piped configuration in base64")
	flags.StringVar(&f.source.GCPSecret, configsource.FlagGCPSecret, "",
		"secret in Google's Secret Manager: projects/P/secrets/S/versions/latest")
	flags.StringVar(&f.source.AWSSecret, configsource.FlagAWSSecret, "",
		"ARN or name of a secret in AWS Secrets Manager, base64")
	flags.StringVar(&f.source.AWSParameter, configsource.FlagAWSSSM, "",
		"name of a parameter of AWS Systems Manager, base64; a SecureString is decrypted")
	flags.BoolVar(&f.insecure, "insecure", false, "talk to the control plane without TLS")
	flags.StringVar(&f.certFile, "cert-file", "", "certificates to trust in place of the system's")
	flags.IntVar(&f.adminPort, "admin-port", agent.DefaultAdminPort,
		"port of /healthz, /metrics, /version and /debug/pprof/; 0 takes a free one")
	flags.IntVar(&f.pluginServicePort, "plugin-service-port", pluginservice.DefaultPort,
		"port for plugins on 127.0.0.1; 0 takes a free one")
	flags.StringVar(&f.toolsDir, "tools-dir", "", "where tools are installed (default WORK-DIR/tools)")
	flags.DurationVar(&f.gracePeriod, "grace-period", pluginhost.DefaultGracePeriod, "time for plugins to stop")
	flags.BoolVar(&f.addLoginUserToPasswd, "add-login-user-to-passwd", false,
		"add the present user to $HOME/passwd, for OpenShift with nss_wrapper")
	flags.StringVar(&f.launcherVersion, "launcher-version", "", "version of PipeCD's launcher, a label of metrics")
	flags.BoolVar(&f.forcePluginRedownload, "force-plugin-redownload", false,
		"throw the kept copies of plugin binaries away first")

	flags.StringVar(&f.adminHost, "admin-host", agent.DefaultAdminHost,
		"address that --admin-port is taken on; 0.0.0.0 in a pod that is probed or scraped")
	flags.IntVar(&f.maxRecvMsgSize, "max-recv-msg-size", controlplane.DefaultMaxReceiveBytes,
		"largest answer of the control plane in bytes")
	flags.StringVar(&f.workDir, "work-dir", "", "mirrors, sources, plugin binaries and tools (default piped in "+
		"the user's cache directory)")
	flags.BoolVar(&f.exitWithStdin, "exit-with-stdin", false,
		"stop when standard input ends, and so with the parent process")
	flags.DurationVar(&f.pluginStartTimeout, "plugin-start-timeout", pluginhost.DefaultStartTimeout,
		"time for a plugin to answer after its start")
	flags.DurationVar(&f.pluginHangTimeout, "plugin-hang-timeout", pluginhost.DefaultHangTimeout,
		"time for a plugin to answer a question for its health, before it is started again; negative for ever")
	flags.BoolVar(&f.pluginReload, "plugin-reload", true,
		"start a plugin whose binary has changed next to the running one, which then only finishes its stages")
	flags.StringVar(&f.logFileDir, "log-file-dir", "",
		"directory for one file of output per plugin (default plugin-logs in WORK-DIR, and piped's own log)")

	// PipeCD's launcher passes on what it does not know; a flag of v0 gets a better answer than "unknown".
	flags.BoolVar(&f.defaultKubernetesProvider, "enable-default-kubernetes-cloud-provider", false, "")
	flags.IntVar(&f.manifestCacheCount, "app-manifest-cache-count", 0, "")
	for _, name := range []string{"enable-default-kubernetes-cloud-provider", "app-manifest-cache-count"} {
		if err := flags.MarkHidden(name); err != nil {
			panic(err) // misspelled above
		}
	}
}

// check reports what is wrong with the flags, the sources of the configuration aside.
func (f *runFlags) check(command *cobra.Command) error {
	switch {
	case f.defaultKubernetesProvider:
		return errors.New("--enable-default-kubernetes-cloud-provider is a flag of PipeCD v0: name the cluster as " +
			"a deploy target of the plugin kubernetes in the configuration instead (pipedeck migrate shows how)")
	case command.Flags().Changed("app-manifest-cache-count"):
		return errors.New("--app-manifest-cache-count is a flag of PipeCD v0, whose piped rendered manifests " +
			"itself; plugins do that now: leave the flag out")
	case f.maxRecvMsgSize <= 0:
		return fmt.Errorf("--max-recv-msg-size is %d, want a number of bytes above 0", f.maxRecvMsgSize)
	case f.gracePeriod <= 0:
		return fmt.Errorf("--grace-period is %s, want more than 0", f.gracePeriod)
	}
	for name, port := range map[string]int{"admin-port": f.adminPort, "plugin-service-port": f.pluginServicePort} {
		if port < 0 || port > 65535 {
			return fmt.Errorf("--%s is %d, want 0 to 65535", name, port)
		}
	}
	return f.telemetry.check()
}

var runExamples = strings.TrimRight(`
  piped run --config-file piped.yaml
  piped run --config-file piped.yaml --insecure --log-level debug
  piped run --config-gcp-secret projects/my-project/secrets/piped-config/versions/latest
  piped run --config-aws-secret arn:aws:secretsmanager:eu-west-1:123456789012:secret:piped-config-AbCdEf
  OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317 piped run --config-file piped.yaml   # traces to Jaeger`, "\n")[1:]

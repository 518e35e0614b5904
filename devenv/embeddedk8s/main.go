// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/apiserver"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/cluster"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
	exitInUse  = 3 // another live process uses the data directory
)

func main() {
	os.Exit(run())
}

func run() int {
	flags := flag.NewFlagSet("embeddedk8s", flag.ContinueOnError)
	config := configFlags(flags)
	withStdin := flags.Bool(
		"exit-with-stdin", false, "stop when standard input ends, as it does when the parent process dies",
	)
	showVersion := flags.Bool("version", false, "print the version of Kubernetes and exit")
	switch err := flags.Parse(os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	}
	if *showVersion {
		fmt.Println("Kubernetes " + apiserver.Version())
		return 0
	}
	if problem := check(flags, *config); problem != "" {
		fmt.Fprintln(os.Stderr, "embeddedk8s: "+problem+"; see embeddedk8s --help")
		return exitUsage
	}

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	// A parent that died took the other ends of the pipes with it. That is no reason to die of a write: see
	// --exit-with-stdin.
	signal.Ignore(syscall.SIGPIPE)
	if *withStdin {
		ctx = untilEOF(ctx, os.Stdin)
	}
	progress := newProgress(os.Stdout, startTime(time.Now()), time.Now)
	collectGarbage := withoutGarbageCollection()
	config.Progress = func(event, server string) {
		progress.report(event, server)
		switch event {
		case cluster.EventControllers:
			collectGarbage()
		case cluster.EventBootstrap:
			returnMemory() // the start is over: give back what it needed and nothing else will
		}
	}
	err := cluster.Run(ctx, *config)
	if err == nil {
		return 0
	}
	progress.fail(err)
	fmt.Fprintln(os.Stderr, "embeddedk8s:", err)
	if errors.Is(err, cluster.ErrInUse) {
		return exitInUse
	}
	return exitFailed
}

// configFlags adds the flags of the cluster, whose values are in the configuration once they are parsed.
func configFlags(flags *flag.FlagSet) *cluster.Config {
	config := &cluster.Config{}
	flags.StringVar(
		&config.DataDir, "data-dir", "", "directory of the cluster's data; made when it does not exist (required)",
	)
	flags.StringVar(&config.Kubeconfig, "kubeconfig", "", "kubeconfig file to write (required)")
	flags.IntVar(
		&config.SecurePort, "secure-port", 0,
		"port of the API on 127.0.0.1; 0: that of the last run if it is free, else any",
	)
	flags.StringVar(&config.NodeName, "node-name", "embedded", "name of the one node")
	flags.StringVar(
		&config.Programs, "programs", "",
		"file with the list of images that run as processes of this machine; empty: every pod is simulated",
	)
	return config
}

func check(flags *flag.FlagSet, config cluster.Config) string {
	switch {
	case flags.NArg() > 0:
		return fmt.Sprintf("unexpected argument %q", flags.Arg(0))
	case config.DataDir == "":
		return "--data-dir is required"
	case config.Kubeconfig == "":
		return "--kubeconfig is required"
	case config.SecurePort < 0 || config.SecurePort > 65535:
		return fmt.Sprintf("--secure-port %d is no port", config.SecurePort)
	}
	if problems := validation.IsDNS1123Label(config.NodeName); len(problems) > 0 {
		return fmt.Sprintf("--node-name %q: %s", config.NodeName, problems[0])
	}
	return ""
}

// untilEOF is ctx, ended when input ends too. The goroutine that reads ends with the process: a read cannot be called
// back.
func untilEOF(ctx context.Context, input io.Reader) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		_, err := io.Copy(io.Discard, input)
		cancel(errors.Join(errors.New("standard input ended"), err))
	}()
	return ctx
}

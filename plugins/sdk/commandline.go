// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// commandLine is the command line of a plugin. Flags may stand before and after the command, with one dash or two.
type commandLine struct {
	plugin Plugin
	agent  *link
	stderr io.Writer
}

// run does what the arguments after the name of the program say.
func (c commandLine) run(ctx context.Context, args []string) error {
	flags, reattaching := startFlags{agent: c.agent}, reattachFlags{}
	global := newFlagSet()
	flags.addGlobal(global)
	asked := global.Bool("version", false, "print the version")
	if err := global.Parse(args); err != nil {
		return c.wrongUse(err)
	}
	if *asked {
		return c.printVersion()
	}
	command, args := global.Arg(0), global.Args()
	own := newFlagSet()
	flags.addGlobal(own)
	switch command {
	case "", "help":
		_, err := io.WriteString(c.stderr, c.usage())
		return err
	case "start":
		flags.addStart(own)
	case "reattach":
		reattaching.add(own)
	case "schema", "version":
	default:
		return fmt.Errorf("unknown command %q\nnext step: run %s help", command, programName())
	}
	if err := own.Parse(args[1:]); err != nil {
		return c.wrongUse(err)
	}
	if own.NArg() > 0 {
		return fmt.Errorf("the command %s takes no arguments, but there is %q", command, own.Arg(0))
	}
	switch command {
	case "schema":
		return c.printSchema()
	case "version":
		return c.printVersion()
	case "reattach":
		return flags.reattach(ctx, c.plugin, reattaching, c.stderr)
	}
	if err := requireFlags(own, "piped-plugin-service", "config"); err != nil {
		return err
	}
	return flags.serve(ctx, c.plugin, c.stderr)
}

// wrongUse prints the help where that was asked for.
func (c commandLine) wrongUse(err error) error {
	if !errors.Is(err, flag.ErrHelp) {
		return fmt.Errorf("%w\nnext step: run %s help", err, programName())
	}
	_, err = io.WriteString(c.stderr, c.usage())
	return err
}

// newFlagSet returns flags that print nothing by themselves.
func newFlagSet() *flag.FlagSet {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

// requireFlags refuses a command line without these flags.
func requireFlags(flags *flag.FlagSet, names ...string) error {
	missing := names
	flags.Visit(func(given *flag.Flag) {
		var rest []string
		for _, name := range missing {
			if name != given.Name {
				rest = append(rest, name)
			}
		}
		missing = rest
	})
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("required flags are missing: --%s\n"+
		"next step: let piped start the plugin, or run: pipedeck plugin test %s; to start it yourself: %s reattach",
		strings.Join(missing, ", --"), os.Args[0], programName())
}

// startFlags are the flags of the start command; PipeCD v1 plugins accept the same ones. piped passes
// the first two only.
type startFlags struct {
	// agent is nil under a piped that hands nothing over.
	agent        *link
	pipedAddress string
	config       string
	gracePeriod  time.Duration
	tls          bool
	certFile     string
	keyFile      string
	reflection   bool
	logLevel     string
	logEncoding  string
}

func (f *startFlags) addStart(flags *flag.FlagSet) {
	flags.StringVar(&f.pipedAddress, "piped-plugin-service", "", "host:port of piped's plugin service")
	flags.StringVar(&f.config, "config", "", "the plugin's entry of the piped configuration as JSON")
	flags.DurationVar(&f.gracePeriod, "grace-period", 30*time.Second, "how long running stages may take to stop")
	flags.BoolVar(&f.tls, "tls", false, "serve TLS; piped itself speaks plain text")
	flags.StringVar(&f.certFile, "cert-file", "", "certificate for --tls")
	flags.StringVar(&f.keyFile, "key-file", "", "key for --tls")
	flags.BoolVar(&f.reflection, "enable-grpc-reflection", false, "serve gRPC reflection")
}

// addGlobal adds flags that stand before the command or after it; what was given before is the default after it.
func (f *startFlags) addGlobal(flags *flag.FlagSet) {
	if f.logLevel == "" {
		f.logLevel, f.logEncoding = "info", "humanize"
	}
	flags.StringVar(&f.logLevel, "log-level", f.logLevel, "debug, info, warn or error")
	flags.StringVar(&f.logEncoding, "log-encoding", f.logEncoding, "json, console or humanize")
	// Accepted so that command lines made for other PipeCD v1 plugins work; they change nothing here.
	flags.Bool("metrics", true, "")
	flags.Bool("profile", false, "")
	flags.Bool("profile-debug-logging", false, "")
	flags.String("profiler-credentials-file", "", "")
}

func (c commandLine) usage() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s is a plugin for piped, which starts it with the start command.\n\nUsage:\n", programName())
	for _, command := range [][2]string{{"start", "serve piped until it ends"},
		{"reattach", "wait for piped, in a process that you have started; flags: -listen, -name"},
		{"schema", "print the JSON Schema of the plugin's options"}, {"version", "print the version"}} {
		fmt.Fprintf(&text, "  %s %-8s %s\n", programName(), command[0], command[1])
	}
	text.WriteString("\nFlags of start:\n")
	flags := newFlagSet()
	shown := new(startFlags)
	shown.addStart(flags)
	shown.addGlobal(flags)
	flags.VisitAll(func(f *flag.Flag) {
		if f.Usage == "" {
			return
		}
		fmt.Fprintf(&text, "  --%-23s %s", f.Name, f.Usage)
		if f.DefValue != "" && f.DefValue != "false" {
			fmt.Fprintf(&text, " (default %s)", f.DefValue)
		}
		text.WriteString("\n")
	})
	return text.String()
}

// printSchema is for programs that do not speak gRPC.
func (c commandLine) printSchema() error {
	if len(c.plugin.schema) == 0 {
		return errors.New("this plugin was built without a schema of its options; add one with WithSchema")
	}
	_, err := os.Stdout.Write(c.plugin.schema)
	return err
}

func (c commandLine) printVersion() error {
	_, err := fmt.Println(c.plugin.Version())
	return err
}

func programName() string { return filepath.Base(os.Args[0]) }

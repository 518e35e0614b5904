// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
)

// Main serves a plugin as piped starts it, until piped stops it, and ends the process: exit code 0 after
// SIGTERM, SIGINT or the end of the agent, 1 on an error, which it prints to stderr, 2 after SIGQUIT, at which it
// prints the stacks of its stages and goroutines.
func Main(plugin Plugin) {
	dumpOnQuit(os.Stderr)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	err := Run(ctx, plugin, os.Args[1:], os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

// Run is Main without the process: args are the command line after the program's name, logs go to
// stderr. It returns nil when ctx ended or the agent has gone.
func Run(ctx context.Context, plugin Plugin, args []string, stderr io.Writer) error {
	pipe, err := openParentPipe()
	if err != nil {
		return err
	}
	if pipe != nil {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			waitForEnd(pipe)
			cancel(errParentGone)
		}()
		defer func() {
			_ = pipe.Close()
			<-watched
		}()
	}
	agent, err := openLink()
	if err != nil {
		return err
	}
	if agent != nil {
		defer agent.close()
		if agent.journal, err = openJournal(); err != nil {
			return err
		}
		defer agent.journal.close()
	}
	return commandLine{plugin: plugin, agent: agent, stderr: stderr}.run(ctx, args)
}

func (f *startFlags) serve(ctx context.Context, plugin Plugin, stderr io.Writer) error {
	if f.agent != nil {
		f.config = f.agent.config // the command line, which everyone can read, has no secrets then
	}
	settings, err := ParseSettings(f.config)
	if err != nil {
		return err
	}
	logger, err := newLogger(stderr, f.logLevel, f.logEncoding)
	if err != nil {
		return err
	}
	if f.agent != nil {
		return Serve(ctx, plugin, ServeOptions{
			Settings: settings, Piped: f.agent.service, Listener: newSoleConn(f.agent.serve),
			Reflection: f.reflection, GracePeriod: f.gracePeriod, Logger: logger, journal: f.agent.journal,
		})
	}
	var secured *tls.Config
	if f.tls {
		pair, err := tls.LoadX509KeyPair(f.certFile, f.keyFile)
		if err != nil {
			return fmt.Errorf("load --cert-file and --key-file: %w", err)
		}
		secured = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	listener, err := listen(ctx, settings)
	if err != nil {
		return err
	}
	return Serve(ctx, plugin, ServeOptions{
		Settings: settings, PipedAddress: f.pipedAddress, Listener: listener, TLS: secured,
		Reflection: f.reflection, GracePeriod: f.gracePeriod, Logger: logger,
	})
}

func listen(ctx context.Context, settings Settings) (net.Listener, error) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(settings.Port))
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("plugin %s: port %d is in use by another process, perhaps a plugin that outlived "+
			"its piped; stop it or change the plugin's port in the piped configuration: %w", settings.Name,
			settings.Port, err)
	}
	if err != nil {
		return nil, fmt.Errorf("plugin %s: listen on %s: %w", settings.Name, address, err)
	}
	return listener, nil
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command piped stands in for piped in the tests of package env. It appends its process id to the
// file "piped/tmp/pids" next to its configuration, and does what the file "plan" there says: "run" until it
// is asked to end, "crash", "config" (a configuration it cannot use), "once" (crash at the first
// start only), "daemon" (run, with a child in its own session, whose id follows in the file), "refused" (crash
// after a call with a wrong key, whose refusal it does not name).
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/piped/config"
)

func main() {
	dir := filepath.Join(filepath.Dir(os.Args[3]), "piped", "tmp") // run --config-file FILE
	plan, err := os.ReadFile(filepath.Join(dir, "plan"))
	if err != nil {
		panic(err)
	}
	if err := record(filepath.Join(dir, "pids"), os.Getpid()); err != nil {
		panic(err)
	}
	switch strings.TrimSpace(string(plan)) {
	case "config":
		fmt.Fprintln(os.Stderr, "piped.yaml:3:1: no such plugin")
		os.Exit(2)
	case "crash":
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(1)
	case "refused":
		if err := callWithWrongKey(os.Args[3]); status.Code(err) != codes.Unauthenticated {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, "a plugin was stopped")
		os.Exit(1)
	case "once":
		if err := os.WriteFile(filepath.Join(dir, "plan"), []byte("run"), 0o600); err != nil {
			panic(err)
		}
		os.Exit(1)
	case "daemon":
		daemon := exec.Command("sleep", "600")
		daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := daemon.Start(); err != nil {
			panic(err)
		}
		if err := record(filepath.Join(dir, "pids"), daemon.Process.Pid); err != nil {
			panic(err)
		}
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	select {
	case <-stop:
	case <-ended:
	}
}

func callWithWrongKey(file string) error {
	c, err := config.LoadPiped(file)
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient(c.APIAddress, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization",
		fmt.Sprintf("PIPED-TOKEN %s,%s,wrong", c.ProjectID, c.PipedID))
	_, err = pipedservice.NewPipedServiceClient(conn).ListApplications(ctx, &pipedservice.ListApplicationsRequest{},
		grpc.WaitForReady(true))
	return err
}

func record(path string, pid int) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, pid)
	return err
}

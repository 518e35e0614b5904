// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// beat is what the scripts of the deployments run. It holds the lock of its application until it ends, so a
// second one shows that two run at once; the kernel frees the lock only when every process that inherited it is
// gone. With -detach a child in its own session holds the lock and goes on when its parent is killed.
func beat(args []string) int {
	flags := flag.NewFlagSet("beat", flag.ExitOnError)
	dir := flags.String("ledger", "", "directory of the ledger and the locks")
	app := flags.String("app", "", "application")
	step := flags.String("step", "", "step of the pipeline")
	length := flags.Duration("for", time.Second, "how long the step takes")
	detach := flags.Bool("detach", false, "work in a child with its own session")
	stubborn := flags.Bool("stubborn", false, "ignore SIGTERM, SIGINT and SIGHUP")
	_ = flags.Parse(args)
	var err error
	if *detach {
		err = beatDetached(args)
	} else {
		err = work(*dir, *app, *step, *length, *stubborn)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "beat:", err)
		return 1
	}
	return 0
}

// beatDetached runs the same in a child in another session and waits for its end.
func beatDetached(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var rest []string
	for _, a := range args {
		if a != "-detach" {
			rest = append(rest, a)
		}
	}
	cmd := exec.Command(self, append([]string{"beat", "-stubborn"}, rest...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Run()
}

func work(dir, app, step string, length time.Duration, stubborn bool) error {
	if stubborn {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
	deployment := os.Getenv("SR_DEPLOYMENT_ID")
	lock, err := os.OpenFile(filepath.Join(dir, app+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		if err := note(dir, mark{Kind: "overlap", Deployment: deployment, App: app, Step: step}); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	if err := note(dir, mark{Kind: "begin", Deployment: deployment, App: app, Step: step}); err != nil {
		return err
	}
	fmt.Printf("beat begins %s %s\n", deployment, step)
	time.Sleep(length)
	if err := note(dir, mark{Kind: "end", Deployment: deployment, App: app, Step: step}); err != nil {
		return err
	}
	fmt.Printf("beat ends %s %s\n", deployment, step)
	return nil
}

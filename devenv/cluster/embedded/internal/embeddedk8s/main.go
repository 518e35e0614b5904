// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command embeddedk8s stands in for the embedded Kubernetes in tests. A file "plan" in its data
// directory holds one word for each start: "run", "crash", "locked", "leave"; the last word counts
// for all further starts, too. At "leave" it crashes and leaves a process, whose number is in a file "left".
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

func main() {
	dir := filepath.Join(os.Args[2], "etcd") // --data-dir DIR
	plan, err := os.ReadFile(filepath.Join(dir, "plan"))
	if err != nil {
		panic(err)
	}
	words := strings.Fields(string(plan))
	if len(words) > 1 {
		if err := os.WriteFile(filepath.Join(dir, "plan"), []byte(strings.Join(words[1:], " ")), 0o600); err != nil {
			panic(err)
		}
	}
	switch words[0] {
	case "locked":
		os.Exit(3)
	case "leave":
		pod := exec.Command("sleep", "600")
		pod.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := pod.Start(); err != nil {
			panic(err)
		}
		left := []byte(strconv.Itoa(pod.Process.Pid))
		if err := os.WriteFile(filepath.Join(dir, "left"), left, 0o600); err != nil {
			panic(err)
		}
		os.Exit(1)
	case "crash":
		fmt.Fprintln(os.Stderr, "the etcd is on fire")
		os.Exit(1)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	fmt.Println("not JSON")
	fmt.Println(`{"event":"ready","server":"https://127.0.0.1:1"}`)
	fmt.Println(`{"event":"controllers","server":"https://127.0.0.1:1"}`)
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

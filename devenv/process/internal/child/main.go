// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command child is what the tests of package process start: it does what its argument says.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	switch os.Args[1] {
	case "fail":
		fmt.Println("started")
		fmt.Fprintln(os.Stderr, "cannot open the door")
		os.Exit(7)
	case "ramble": // more lines than are kept
		for i := range 1000 {
			fmt.Fprintln(os.Stderr, "this is line", i)
		}
		fmt.Fprintln(os.Stderr, "10 %\r90 %\rthis is line 1000")
		os.Exit(3)
	case "panic":
		panic("it burns")
	case "stdin": // ends with its parent
		fmt.Println("started")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "stubborn": // ignores SIGTERM and has a child
		signal.Ignore(syscall.SIGTERM)
		grandchild := exec.Command("sleep", "600")
		if err := grandchild.Start(); err != nil {
			panic(err)
		}
		fmt.Println(grandchild.Process.Pid)
		forever := make(chan os.Signal, 1)
		signal.Notify(forever, syscall.SIGUSR1) // which no one sends
		<-forever
	case "orphan", "orphan-elsewhere": // dies before its child, which holds both outputs
		grandchild := exec.Command("sleep", "600")
		grandchild.Stdout, grandchild.Stderr = os.Stdout, os.Stderr
		grandchild.SysProcAttr = &syscall.SysProcAttr{Setpgid: os.Args[1] == "orphan-elsewhere"}
		if err := grandchild.Start(); err != nil {
			panic(err)
		}
		fmt.Println(grandchild.Process.Pid)
		os.Exit(3)
	case "flood": // 12 MiB on each output
		line := strings.Repeat("x", 1<<10-1)
		for range 12 << 10 {
			fmt.Println(line)
			fmt.Fprintln(os.Stderr, line)
		}
		fmt.Fprintln(os.Stderr, "after")
	case "long":
		fmt.Println(strings.Repeat("x", 3<<20))
		fmt.Println("after")
	}
}

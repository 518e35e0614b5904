// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command container is what the containers of tests run. Its arguments are steps, done one after the other.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	for _, step := range os.Args[1:] {
		name, value, _ := strings.Cut(step, "=")
		do(name, value)
	}
}

func do(name, value string) {
	switch name {
	case "print":
		fmt.Println(value)
	case "complain":
		fmt.Fprintln(os.Stderr, value)
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "dir":
		dir, _ := os.Getwd()
		fmt.Println(dir)
	case "cat":
		content, err := os.ReadFile(os.ExpandEnv(value))
		fmt.Println(string(content), err)
	case "exit":
		code, _ := strconv.Atoi(value)
		os.Exit(code)
	case "fail-without": // ends with 1 unless a file is there
		if _, err := os.Stat(os.ExpandEnv(value)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	case "touch":
		if err := os.WriteFile(os.ExpandEnv(value), nil, 0o600); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	case "append":
		path, text, _ := strings.Cut(value, ":")
		file, err := os.OpenFile(os.ExpandEnv(path), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = io.WriteString(file, text+"\n")
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	case "eat": // MiB of memory
		size, _ := strconv.Atoi(value)
		kept := make([]byte, size<<20)
		for i := range kept {
			kept[i] = byte(i)
		}
		fmt.Println("ate", len(kept))
	case "child": // leaves a process behind in the group
		command := exec.Command(os.Args[0], "wait")
		if err := command.Start(); err == nil {
			fmt.Println("child", command.Process.Pid)
		}
	case "input": // prints its lines until it ends
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			fmt.Println("got", lines.Text())
		}
		fmt.Println("the input has ended")
	case "work": // uses two fifths of a processor while a file is there
		go work(os.ExpandEnv(value))
	case "ignore": // SIGTERM
		signal.Ignore(syscall.SIGTERM)
	case "wait":
		time.Sleep(time.Hour) // for ever; Go ends a program that only waits on select {}
	case "pause":
		pause, _ := time.ParseDuration(value)
		time.Sleep(pause)
	case "listen": // closes each connection
		listener, err := net.Listen("tcp", "127.0.0.1:"+os.ExpandEnv(value))
		fmt.Println("listen", err)
		if err == nil {
			go accept(listener)
		}
	case "daemon": // leaves a process behind that does a step in its own session
		command := exec.Command(os.Args[0], value, "wait")
		command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := command.Start(); err == nil {
			fmt.Println("daemon", command.Process.Pid)
		}
	case "serve":
		serve()
	}
}

func accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_ = conn.Close()
	}
}

func work(path string) {
	const round, busy = 100 * time.Millisecond, 40 * time.Millisecond
	for {
		start := time.Now()
		if _, err := os.Stat(path); err == nil {
			for time.Since(start) < busy {
			}
		}
		time.Sleep(round - time.Since(start))
	}
}

// serve answers on PORT until SIGTERM: with 503 on /ready while the file named by UNREADY is there.
func serve() {
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, os.Getenv("GREETING")) })
	http.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) {
		if _, err := os.Stat(os.Getenv("UNREADY")); err == nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	http.HandleFunc("/stopping", func(http.ResponseWriter, *http.Request) { fmt.Println("told to stop") })
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		<-stop
		fmt.Println("stopped")
		os.Exit(0)
	}()
	fmt.Println("serving")
	fmt.Println(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
	os.Exit(1)
}

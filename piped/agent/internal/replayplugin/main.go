// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command replayplugin is the process of a plugin whose answers are given by a test: it passes each connection on to
// the address in its configuration, after a line with its own arguments as JSON. Like PipeCD's plugins it knows
// nothing of links.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
)

func main() {
	fmt.Fprintln(os.Stderr, forward(os.Args[1:]))
	os.Exit(1)
}

func forward(arguments []string) error {
	flags := flag.NewFlagSet("start", flag.ContinueOnError)
	flags.String("piped-plugin-service", "", "address of piped")
	argument := flags.String("config", "", "entry of the piped configuration as JSON")
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	var entry struct {
		Port   int
		Config struct{ Backend string }
	}
	if err := json.Unmarshal([]byte(*argument), &entry); err != nil {
		return err
	}
	greeting, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(entry.Port)))
	if err != nil {
		return err
	}
	go func() {
		_, _ = os.NewFile(3, "parent").Read(make([]byte, 1))
		os.Exit(0)
	}()
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		backend, err := net.Dial("tcp", entry.Config.Backend)
		if err != nil {
			return err
		}
		if _, err := backend.Write(append(greeting, '\n')); err != nil {
			return err
		}
		go pass(backend, conn)
		go pass(conn, backend)
	}
}

func pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	to.Close()
}

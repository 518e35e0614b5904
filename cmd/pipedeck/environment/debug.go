// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/debugger"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// debug notes at which address the debugger of each plugin listens that is given as NAME or NAME=PORT.
func debug(plugins []workspace.Plugin, debugged []string) error {
	if _, err := debugger.Find(); err != nil {
		return exit.Usage(err, "run: "+debugger.Install)
	}
	names := make([]string, len(plugins))
	for i, p := range plugins {
		names[i] = p.Name
	}
	next := debugger.FirstPort
	for _, given := range debugged {
		name, text, chosen := strings.Cut(given, "=")
		i := slices.Index(names, name)
		if i < 0 {
			return exit.Usage(fmt.Errorf("--debug %s: no plugin is named %s", given, name),
				"give one of: "+strings.Join(names, ", ")+"; or add it: --plugin "+name+"=DIR")
		}
		port := next
		if chosen {
			var err error
			if port, err = strconv.Atoi(text); err != nil || port < 1 || port > 65535 {
				return exit.Usage(fmt.Errorf("--debug %s: %q is not a port", given, text),
					"give a port, such as --debug "+name+"="+strconv.Itoa(next))
			}
		} else {
			next++
		}
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if slices.ContainsFunc(plugins, func(p workspace.Plugin) bool { return p.Debug == address }) {
			return exit.Usage(fmt.Errorf("--debug %s: port %d is of another plugin", given, port),
				"give another port, such as --debug "+name+"="+strconv.Itoa(port+1))
		}
		if err := isFree(address); err != nil {
			return exit.Usage(fmt.Errorf("--debug %s: %w", given, err),
				"give another port, such as --debug "+name+"="+strconv.Itoa(port+1))
		}
		plugins[i].Debug = address
	}
	return nil
}

// isFree reports an address that another program listens on.
func isFree(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return listener.Close()
}

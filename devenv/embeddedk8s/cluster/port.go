// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// listen opens the API server's port on 127.0.0.1: port itself, or when it is 0 the port of the last run if it is free,
// else any. It takes down which one it was, so that a kubeconfig copied elsewhere stays good.
func listen(dir string, port int) (net.Listener, error) {
	path := filepath.Join(dir, "port")
	if port != 0 {
		listener, err := listenOn(port)
		if err != nil {
			return nil, fmt.Errorf(
				"listen on the port asked for: %w; free it, or pass --secure-port 0 to have one chosen", err,
			)
		}
		return listener, savePort(path, listener)
	}
	if content, err := os.ReadFile(path); err == nil {
		if last, err := strconv.Atoi(strings.TrimSpace(string(content))); err == nil {
			if listener, err := listenOn(last); err == nil {
				return listener, nil
			}
		}
	}
	listener, err := listenOn(0)
	if err != nil {
		return nil, fmt.Errorf("listen on a free port: %w", err)
	}
	return listener, savePort(path, listener)
}

func listenOn(port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}

func savePort(path string, listener net.Listener) error {
	port := listener.Addr().(*net.TCPAddr).Port
	if err := writeFile(path, []byte(strconv.Itoa(port)+"\n")); err != nil {
		return fmt.Errorf("save port: %w", err)
	}
	return nil
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

const (
	// servicesVariable names the file with the addresses of services. What starts piped sets it.
	servicesVariable = "PIPEDECK_SERVICES_FILE"
	// servicePrefix begins the names of the file that are addresses.
	servicePrefix = "PIPEDECK_SERVICE_"
	// maxServicesFile bounds the file, in bytes.
	maxServicesFile = 256 << 10
)

// readServices returns the addresses of the file at path, lines PIPEDECK_SERVICE_NAME=VALUE, by NAME. There are none
// without a path or a file: no address is known then.
func readServices(path string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxServicesFile+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxServicesFile {
		return nil, fmt.Errorf("%s has more than %d KiB", path, maxServicesFile>>10)
	}
	services := map[string]string{}
	for line := range strings.Lines(string(content)) {
		name, value, is := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
		if short, address := strings.CutPrefix(name, servicePrefix); is && address {
			services[short] = value
		}
	}
	return services, nil
}

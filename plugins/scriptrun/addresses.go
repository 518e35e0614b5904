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
	// servicePrefix begins the variables that the file may set: no other variable of a script is its business.
	servicePrefix = "PIPEDECK_SERVICE_"
	// maxServicesFile bounds the file, in bytes: environments of programs are bounded, too.
	maxServicesFile = 256 << 10
)

// readAddresses returns the variables of the file at path as NAME=VALUE. There are none without a path, and none while
// the file is missing, because no address is known then.
func readAddresses(path string) ([]string, error) {
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
	var variables []string
	for line := range strings.Lines(string(content)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, servicePrefix) && strings.Contains(line, "=") && !strings.Contains(line, "\x00") {
			variables = append(variables, line)
		}
	}
	return variables, nil
}

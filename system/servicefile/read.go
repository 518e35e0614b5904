// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package servicefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

const (
	// Variable names the file. What starts piped sets it, and plugins get it from piped.
	Variable = "PIPEDECK_SERVICES_FILE"
	// Prefix begins the names in the file that count: it sets no other variable.
	Prefix = "PIPEDECK_SERVICE_"
	// MaxSize bounds the file, in bytes: environments of programs are bounded, too.
	MaxSize = 256 << 10
)

// Read returns the addresses in the file that Variable names, as NAME=VALUE with names that begin with Prefix. There
// are none without that variable, and none while the file is missing, because no address is known then.
func Read() ([]string, error) {
	path := os.Getenv(Variable)
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
	content, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(content) > MaxSize {
		return nil, fmt.Errorf("%s has more than %d KiB", path, MaxSize>>10)
	}
	var addresses []string
	for line := range strings.Lines(string(content)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, Prefix) && strings.Contains(line, "=") && !strings.Contains(line, "\x00") {
			addresses = append(addresses, line)
		}
	}
	return addresses, nil
}

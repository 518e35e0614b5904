// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// exceptions are the bounds of things that may be larger than others, by "kind place".
type exceptions map[string]*exception

// exception allows a size.
type exception struct {
	bound int
	used  bool
}

// readExceptions reads lines "kind place bound: reason"; empty lines and those that begin with # are skipped.
func readExceptions(file string) (exceptions, error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return exceptions{}, nil
	}
	if err != nil {
		return nil, err
	}
	list := exceptions{}
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		what, reason, _ := strings.Cut(line, ": ")
		fields := strings.Fields(what)
		if len(fields) != 3 || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf(`%s:%d: want "kind place bound: reason"`, file, number)
		}
		bound, err := strconv.Atoi(fields[2])
		if _, known := bounds[kind(fields[0])]; err != nil || !known {
			return nil, fmt.Errorf("%s:%d: want a kind of finding and a number", file, number)
		}
		list[fields[0]+" "+fields[1]] = &exception{bound: bound}
	}
	return list, nil
}

// allow reports whether the finding is an exception that has not grown.
func (e exceptions) allow(f finding) bool {
	known := e[f.key()]
	if known == nil {
		return false
	}
	known.used = true
	return f.size <= known.bound
}

func (e exceptions) unused() []string {
	var list []string
	for key, one := range e {
		if !one.used {
			list = append(list, key)
		}
	}
	slices.Sort(list)
	return list
}

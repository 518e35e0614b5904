// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/health"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/rendering"
)

// ServeIfChecking checks rules of health and ends the process when the program was started for that.
func ServeIfChecking() {
	if len(os.Args) != 2 || os.Args[1] != rendering.CheckArgument {
		return
	}
	if err := CheckHealth(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// CheckHealth reads rules as the configuration has them, and writes the mistakes in them.
func CheckHealth(in io.Reader, out io.Writer) error {
	var rules []config.HealthRule
	if err := json.NewDecoder(io.LimitReader(in, maxRequest)).Decode(&rules); err != nil {
		return fmt.Errorf("read the rules to check: %w", err)
	}
	compiled, err := health.Compile(rules)
	compiled.Close()
	mistakes := []rendering.Mistake{}
	for _, one := range split(err) {
		wrong, is := errors.AsType[*health.Mistake](one)
		if !is {
			return one
		}
		mistakes = append(mistakes, rendering.Mistake{Rule: wrong.Rule, Key: wrong.Key, Text: wrong.Where()})
	}
	return json.NewEncoder(out).Encode(mistakes)
}

// split takes errors apart that Compile has joined.
func split(err error) []error {
	if joined, is := err.(interface{ Unwrap() []error }); is {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

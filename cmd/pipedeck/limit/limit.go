// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package limit is the flag for a time limit.
package limit

import (
	"errors"
	"time"

	"github.com/spf13/pflag"
)

// value is a flag for a time limit. A limit that is not more than 0 would end the command before it has begun.
type value struct{ *time.Duration }

var _ pflag.Value = value{}

// Var defines the flag with its default.
func Var(flags *pflag.FlagSet, to *time.Duration, name string, standard time.Duration, usage string) {
	*to = standard
	flags.Var(value{to}, name, usage)
}

// Set implements pflag.Value.
func (l value) Set(text string) error {
	d, err := parse(text)
	if err == nil {
		*l.Duration = d
	}
	return err
}

// Check returns the error of Set, and changes nothing.
func (value) Check(text string) error {
	_, err := parse(text)
	return err
}

func parse(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err == nil && d <= 0 {
		err = errors.New("a time limit must be more than 0")
	}
	return d, err
}

// Type implements pflag.Value.
func (value) Type() string { return "duration" }

// String implements pflag.Value.
func (l value) String() string {
	if l.Duration == nil {
		return ""
	}
	return l.Duration.String()
}

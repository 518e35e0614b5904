// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"errors"

	"github.com/spf13/pflag"
)

// given is the value of a flag that names something. An empty one is refused: it is a variable of a script that has no
// value, and not the wish to have the default.
type given string

// GivenVar adds a flag that may be left out, but not be empty.
func GivenVar(flags *pflag.FlagSet, target *string, name, usage string) {
	flags.Var((*given)(target), name, usage)
}

// Set takes the value.
func (g *given) Set(value string) error {
	if value == "" {
		return errors.New("it is empty; leave the flag out for the default")
	}
	*g = given(value)
	return nil
}

// String returns the value.
func (g *given) String() string { return string(*g) }

// Type is the word for the value in help texts.
func (g *given) Type() string { return "string" }

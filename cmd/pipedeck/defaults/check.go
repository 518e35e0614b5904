// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package defaults

import (
	"github.com/spf13/pflag"
)

// check finds values that a flag refuses, whichever command runs, and leaves the flag as it is. Flags that take any
// text are left to their commands.
func check(flag *pflag.Flag, values []string) error {
	judge := judgeOf(flag.Value)
	for _, value := range values {
		if judge == nil {
			return nil
		}
		if err := judge(value); err != nil {
			return err
		}
	}
	return nil
}

// judgeOf returns what a value of the type is tried with; nil for any text.
func judgeOf(value pflag.Value) func(string) error {
	if own, is := value.(interface{ Check(text string) error }); is {
		return own.Check
	}
	scratch := pflag.NewFlagSet("", pflag.ContinueOnError)
	switch value.Type() {
	case "bool":
		scratch.Bool("x", false, "")
	case "int":
		scratch.Int("x", 0, "")
	case "int64":
		scratch.Int64("x", 0, "")
	case "uint":
		scratch.Uint("x", 0, "")
	case "float64":
		scratch.Float64("x", 0, "")
	case "duration":
		scratch.Duration("x", 0, "")
	default:
		return nil
	}
	return scratch.Lookup("x").Value.Set
}

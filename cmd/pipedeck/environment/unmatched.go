// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"github.com/pipedeck/pipedeck/cmd/pipedeck/unmatched"
	"github.com/pipedeck/pipedeck/piped/breakpoint"
	"github.com/pipedeck/pipedeck/piped/fault"
	"github.com/pipedeck/pipedeck/tui/state"
)

// warnUnmatched returns what sees each state of the environment, and prints the warnings of unmatchedOf.
func (s *Setup) warnUnmatched() func(*state.Deck) {
	warnings := unmatchedOf(s.Flags)
	return func(d *state.Deck) {
		for _, line := range warnings(d) {
			s.warn(line)
		}
	}
}

// unmatchedOf returns what sees each state of the environment. Once the stages of all applications are known, it warns
// of the faults and breakpoints of the flags for others, once.
func unmatchedOf(f *Flags) func(*state.Deck) []string {
	stages := namedStages(f)
	return func(d *state.Deck) []string {
		if len(stages) == 0 || !unmatched.Settled(d) {
			return nil
		}
		named := stages
		stages = nil
		return unmatched.Warnings(named, unmatched.Stages(d))
	}
}

// namedStages are those that --fault and --break name, which have been checked.
func namedStages(f *Flags) (stages []string) {
	if rules, err := fault.Parse(f.faults); err == nil {
		for _, rule := range rules.List() {
			stages = append(stages, rule.GetStage())
		}
	}
	if breaks, err := breakpoint.Parse(f.breaks); err == nil {
		for _, one := range breaks {
			stages = append(stages, one.GetStage())
		}
	}
	return stages
}

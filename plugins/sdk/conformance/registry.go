// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"path"
	"slices"
)

// Cases returns all cases in the order of reports.
func Cases() []Case {
	return slices.Concat(startCases(), configCases(), stageListCases(), healthCases(), earlyCases(), pipelineCases(),
		rollbackCases(), pipelineLimits(), refusalCases(), busyCases(), quickSyncCases(), versionCases(),
		strategyCases(), executionCases(), answerCases(), optionCases(), optionValueCases(), misspeltCases(),
		againCases(), reuseCases(), cancelCases(), cancelWorkCases(), concurrencyCases(), logCases(),
		logTroubleCases(), metadataCases(), secretCases(), secretFileCases(), malformedCases(), limitCases(),
		pipedCases(), processCases(), stopCases(), leakCases(), stopLeakCases(), memoryCases(),
		liveStateCases(), changeCases(), driftCases(), previewCases(), deployCases(), schemaCases())
}

// startID is the case that all others build on.
const startID = "start.serves"

// Select returns the cases that one of the patterns names, all without patterns. A pattern is an id in which * stands
// for any letters, dots included. The error is for a pattern that names none.
func Select(cases []Case, patterns []string) ([]Case, error) {
	if len(patterns) == 0 {
		return cases, nil
	}
	chosen := make([]bool, len(cases))
	for _, pattern := range patterns {
		found := false
		for i := range cases {
			matches, err := path.Match(pattern, cases[i].ID)
			if err != nil {
				return nil, fmt.Errorf("the pattern %q cannot be read: %w", pattern, err)
			}
			chosen[i], found = chosen[i] || matches, found || matches
		}
		if !found {
			return nil, fmt.Errorf("no case has the id %q", pattern)
		}
	}
	var selected []Case
	for i := range cases {
		if chosen[i] {
			selected = append(selected, cases[i])
		}
	}
	return selected, nil
}

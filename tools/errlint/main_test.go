// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/polyfloyd/go-errorlint/errorlint"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

func TestFindingsAreThoseOfTheProgramsWithoutTheExceptions(t *testing.T) {
	// errorlint.NewAnalyzer writes a variable of its package, so that it is called once, as main does.
	dropped, compared := unchecked(exceptions(exceptionsText)), handWritten(errorlint.NewAnalyzer())
	both := &analysis.Analyzer{Name: "errlint", Doc: "both", Run: func(pass *analysis.Pass) (any, error) {
		for _, a := range []*analysis.Analyzer{dropped, compared} {
			if _, err := a.Run(pass); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}}
	analysistest.Run(t, analysistest.TestData(), both, "a")
}

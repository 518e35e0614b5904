// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command errlint finds errors that nothing looks at (errcheck), and errors that are compared or converted without
// errors.Is and errors.As (errorlint). It skips tests, which assert what they are about, and generated code.
//
//	errlint PACKAGES...
package main

import (
	_ "embed"
	"fmt"
	"go/token"
	"strings"

	"github.com/kisielk/errcheck/errcheck"
	"github.com/polyfloyd/go-errorlint/errorlint"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/multichecker"
)

//go:embed exceptions.txt
var exceptionsText string

func main() {
	multichecker.Main(unchecked(exceptions(exceptionsText)), handWritten(errorlint.NewAnalyzer()))
}

// exceptions returns the functions whose errors may be dropped: every line that is not blank and not a comment.
func exceptions(text string) map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			names[line] = true
		}
	}
	return names
}

// unchecked is errcheck with exceptions and with the name of the function in its findings.
func unchecked(allowed map[string]bool) *analysis.Analyzer {
	a := *errcheck.Analyzer
	a.Run = func(pass *analysis.Pass) (any, error) {
		silent := *pass
		silent.Report = func(analysis.Diagnostic) {}
		found, err := errcheck.Analyzer.Run(&silent)
		if err != nil {
			return nil, err
		}
		for _, e := range found.(errcheck.Result).UncheckedErrors {
			// A finding without a name is a value received from a channel of errors: the wait itself is what counts.
			if e.FuncName != "" && !allowed[e.FuncName] {
				pass.Report(analysis.Diagnostic{Pos: position(pass, e.Pos),
					Message: fmt.Sprintf("the error of %s is dropped", e.FuncName)})
			}
		}
		return found, nil
	}
	return handWritten(&a)
}

// position returns where in the files of the pass a place is.
func position(pass *analysis.Pass, at token.Position) token.Pos {
	for _, f := range pass.Files {
		if file := pass.Fset.File(f.Pos()); file.Name() == at.Filename {
			return file.Pos(at.Offset)
		}
	}
	return token.NoPos
}

// handWritten drops findings in tests and in generated code.
func handWritten(a *analysis.Analyzer) *analysis.Analyzer {
	run := a.Run
	a.Run = func(pass *analysis.Pass) (any, error) {
		report := pass.Report
		filtered := *pass
		filtered.Report = func(d analysis.Diagnostic) {
			name := pass.Fset.Position(d.Pos).Filename
			if !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, ".pb.") {
				report(d)
			}
		}
		return run(&filtered)
	}
	return a
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package breakpoint

import (
	"fmt"
	"strings"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/system/spelling"
)

// Variable is the environment variable with breakpoints of piped, one a line.
const Variable = "PIPED_BREAKPOINTS"

// Every is the name for all stages.
const Every = "*"

// Bounds of what users write.
const (
	maxText = 512
	// Max bounds how many breakpoints there are.
	Max = 100
)

// The words for when a breakpoint stops.
const (
	Before  = "before"
	After   = "after"
	Failure = "failure"
)

var whens = map[string]agentv1.Breakpoint_When{
	Before: agentv1.Breakpoint_WHEN_BEFORE, After: agentv1.Breakpoint_WHEN_AFTER,
	Failure: agentv1.Breakpoint_WHEN_FAILURE,
}

// SyntaxError is a mistake in a breakpoint.
type SyntaxError struct{ Text, Problem string }

func (e *SyntaxError) Error() string { return fmt.Sprintf("breakpoint %q: %s", e.Text, e.Problem) }

// Parse reads breakpoints. The error is a *SyntaxError.
func Parse(texts []string) ([]*agentv1.Breakpoint, error) {
	var list []*agentv1.Breakpoint
	for _, text := range texts {
		b, problem := parse(text)
		if len(list) == Max {
			problem = fmt.Sprintf("there are more than %d", Max)
		}
		if problem != "" {
			return nil, &SyntaxError{text[:min(len(text), maxText)], problem}
		}
		list = append(list, b)
	}
	return list, nil
}

func parse(text string) (b *agentv1.Breakpoint, problem string) {
	word, subject, _ := strings.Cut(strings.TrimSpace(text), " ")
	subject = strings.TrimSpace(subject)
	when, known := whens[word]
	switch {
	case len(text) > maxText:
		return nil, fmt.Sprintf("it has more than %d bytes", maxText)
	case strings.ContainsAny(text, "\n\r"):
		return nil, "it has several lines"
	case !known:
		problem = fmt.Sprintf("%q is unknown: want before STAGE, after STAGE or failure", word)
		if near := spelling.Nearest(word, []string{Before, After, Failure}); near != "" {
			problem += "; did you mean " + near + "?"
		}
		return nil, problem
	case subject == "" && word == Failure:
		return &agentv1.Breakpoint{When: when, Stage: Every}, ""
	case subject == "":
		return nil, "a stage is missing: want its id or its type, such as " + word + " WAIT; * is all stages"
	}
	application, stage := "", subject
	if slash := strings.LastIndexByte(subject, '/'); slash >= 0 {
		application, stage = subject[:slash], subject[slash+1:]
		if application == "" || stage == "" {
			return nil, fmt.Sprintf("%q is not APP/STAGE", subject)
		}
	}
	return &agentv1.Breakpoint{When: when, Application: application, Stage: stage}, ""
}

// Text is how users write a breakpoint.
func Text(b *agentv1.Breakpoint) string {
	word := ""
	for name, when := range whens {
		if when == b.GetWhen() {
			word = name
		}
	}
	switch {
	case b.GetApplication() != "":
		return word + " " + b.GetApplication() + "/" + b.GetStage()
	case b.GetWhen() == agentv1.Breakpoint_WHEN_FAILURE && b.GetStage() == Every:
		return word
	}
	return word + " " + b.GetStage()
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"errors"
	"fmt"
	"strings"
)

const (
	// maxHeadline bounds what is said of an error, in bytes, and maxNextStep its next step. Tables wrap both.
	maxHeadline = 2 << 10
	maxNextStep = 1 << 10
	// maxTarget and maxTargetStep are the same for one of many deploy targets, which are reported together.
	maxTarget     = 640
	maxTargetStep = 320

	nextStep = "next step: "
)

// headline is an error in one line, which is the reason of a stage: the first line, how many errors more were joined to
// it, and the next step when a line of the error begins with those words. The whole error is in the log. PipeCD v1 has
// the field for it but neither fills nor reads it.
func headline(err error) string { return headlineWithin(err, maxHeadline, maxNextStep) }

// headlineOfTarget is headline for one of many deploy targets.
func headlineOfTarget(err error) string { return headlineWithin(err, maxTarget, maxTargetStep) }

func headlineWithin(err error, most, mostOfStep int) string {
	text, more := firstOf(err)
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = cut(line, most)
	if more > 0 {
		line += fmt.Sprintf(" (and %d more in the log)", more)
	}
	for below := range strings.SplitSeq(rest, "\n") {
		if step, is := strings.CutPrefix(strings.TrimSpace(below), nextStep); is {
			return line + "; " + nextStep + cut(step, mostOfStep)
		}
	}
	return line
}

// firstOf returns the text of the first of errors that were joined, each on separate lines, with all that stands in
// front of it, and how many more there are. Of other errors it returns the text.
func firstOf(err error) (text string, more int) {
	whole := err.Error()
	for e := err; e != nil; {
		if several, is := e.(interface{ Unwrap() []error }); is {
			all := several.Unwrap()
			if len(all) == 1 {
				e = all[0]
				continue
			}
			if len(all) == 0 {
				break
			}
			before, _, lines := strings.Cut(whole, all[0].Error()+"\n"+all[1].Error())
			if !lines {
				break
			}
			first, others := firstOf(all[0])
			return before + first, others + count(all[1:])
		}
		e = errors.Unwrap(e)
	}
	return whole, 0
}

// count counts errors, each of those that were joined.
func count(errs []error) (n int) {
	for _, e := range errs {
		several, is := errors.AsType[interface {
			error
			Unwrap() []error
		}](e)
		if is && len(several.Unwrap()) > 0 {
			n += count(several.Unwrap())
			continue
		}
		n++
	}
	return n
}

// cut shortens a text to at most limit bytes and marks the cut.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

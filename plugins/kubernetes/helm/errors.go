// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"errors"
	"regexp"
	"strings"
)

// at is a place in a template, as text/template and Helm write it: "web/templates/a.yaml:3:14".
var at = regexp.MustCompile(`[A-Za-z0-9._+-]+(?:/[^\s:()"]+)+(:\d+(?::\d+)?)`)

// executing names the template once more.
var executing = regexp.MustCompile(`:? executing "[^"]*" at `)

// nothing is how text/template says that a value is missing of which a part is wanted.
var nothing = regexp.MustCompile(`nil pointer evaluating \S+( \{\})?\.\w+`)

// templateError writes an error of the template engine in one line, with the place first and the templates where they
// stand in the repository.
func templateError(l *loaded, err error) error {
	text := strings.Join(strings.Fields(err.Error()), " ")
	text = strings.Replace(strings.TrimPrefix(text, "template: "), "error calling lookup: ", "", 1)
	for _, prefix := range []string{"parse error at (", "execution error at ("} {
		if rest, is := strings.CutPrefix(text, prefix); is {
			text = strings.Replace(rest, "): ", ": ", 1)
		}
	}
	text = at.ReplaceAllStringFunc(text, l.place)
	text = executing.ReplaceAllString(text, ": at ")
	return errors.New(nothing.ReplaceAllString(text, "$0 (what stands before it is not given)"))
}

// place turns "web/templates/a.yaml:3:14" into the file in the repository.
func (l *loaded) place(found string) string {
	file, position, _ := strings.Cut(found, ":")
	if !strings.HasPrefix(file, l.chart.Name()+"/") {
		return found
	}
	return l.source(file) + ":" + position
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/tui/text"
)

type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitCounts struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"`
	}
	junitSuite struct {
		junitCounts
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		File    string       `xml:"file,attr,omitempty"`
		Line    int          `xml:"line,attr,omitempty"`
		Time    string       `xml:"time,attr"`
		Failure *junitReason `xml:"failure"`
		Error   *junitReason `xml:"error"`
		Skipped *junitReason `xml:"skipped"`
		Out     string       `xml:"system-out,omitempty"`
	}
	junitReason struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit returns the run as JUnit XML: a test suite with a test case for each application. Applications that fail the
// run are failures; those that were not deployed at all by a mistake or the end of the run are errors; those that the
// run leaves out are skipped. A run that fails by no application has a separate test case, so that no reader takes it
// for a success.
func JUnit(run Run) ([]byte, error) {
	suite := junitSuite{
		junitCounts: junitCounts{Name: "pipedeck ci", Time: xmlSeconds(run.Seconds)},
		Timestamp:   run.Started.Format(time.RFC3339),
		Properties: []junitProperty{
			{"repository", plain(run.Repository)}, {"head", plain(run.Head)},
			{"exit_code", fmt.Sprint(run.ExitCode)}, {"reason", plain(run.Reason)},
		},
	}
	if run.NothingToDeploy {
		suite.Properties = append(suite.Properties, junitProperty{"nothing_to_deploy", "true"})
	}
	if run.Base != "" {
		suite.Properties = append(suite.Properties, junitProperty{"base", plain(run.Base)})
	}
	for i := range run.Applications {
		suite.add(junitCaseOf(&run, &run.Applications[i]))
	}
	if run.ExitCode != 0 && suite.Failures+suite.Errors == 0 {
		suite.add(junitCase{Name: "the run", Class: "pipedeck", Time: xmlSeconds(run.Seconds),
			Error: &junitReason{Message: plain(cmp.Or(run.Reason, "interrupted")), Type: "exit code " +
				fmt.Sprint(run.ExitCode)}})
	}
	out, err := xml.MarshalIndent(junitSuites{junitCounts: suite.junitCounts, Suites: []junitSuite{suite}}, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(out, '\n')...), nil
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func junitCaseOf(run *Run, a *Application) junitCase {
	// Jenkins takes what is before the last dot for a package.
	c := junitCase{Name: plain(run.Title(a)),
		Class: "pipedeck." + strings.ReplaceAll(plain(path.Dir(a.File)), ".", "_"),
		File:  plain(a.File), Time: xmlSeconds(a.Seconds), Out: log(a)}
	if a.Place != nil {
		c.File, c.Line = plain(a.Place.File), a.Place.Line
	}
	reason := &junitReason{Message: plain(Why(a)), Type: string(a.Result), Text: plain(details(a))}
	if a.Cause != "" {
		reason.Type = string(a.Cause)
	}
	switch {
	case run.Fails(a.Result) && (a.Result == Invalid || a.Result == Undeployed || a.Result == Unfinished):
		c.Error = reason
	case run.Fails(a.Result):
		c.Failure = reason
	case a.Result != Success:
		reason.Text, reason.Type = "", ""
		c.Skipped = reason
		c.Skipped.Message = string(a.Result) + ": " + c.Skipped.Message
	}
	return c
}

// details are the reason with its place, and each stage that did not succeed.
func details(a *Application) string {
	lines := []string{a.Place.String(), Why(a)}
	for i := range a.Stages {
		if s := &a.Stages[i]; s.Status != "SUCCESS" && s.Status != "NOT_STARTED" {
			lines = append(lines, strings.TrimRight(fmt.Sprintf("stage %s %s: %s", s.Name, s.Status, s.Reason), ": "))
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// log is the last lines of each stage that ran.
func log(a *Application) string {
	var b strings.Builder
	for _, warning := range a.Warnings {
		b.WriteString("warning: " + warning.Text + "\n")
	}
	for i := range a.Stages {
		s := &a.Stages[i]
		if len(s.Log) == 0 {
			continue
		}
		fmt.Fprintf(&b, "--- %s %s\n", s.Name, s.Status)
		for _, line := range s.Log {
			b.WriteString(line + "\n")
		}
	}
	return plain(b.String())
}

// plain removes what XML cannot hold, and what could steer a terminal.
func plain(s string) string { return text.Clean(strings.ToValidUTF8(s, "\uFFFD")) }

func xmlSeconds(s float64) string { return fmt.Sprintf("%.3f", s) }

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/xml"
	"time"
)

// Case is the result of one test for JUnitCases.
type Case struct {
	Name, Class string
	Seconds     float64
	// Failure says in a line why the test failed, and Text in full; Skipped why it was not run. At most one of Failure
	// and Skipped is set; neither is a success.
	Failure, Text, Skipped string
	// Out is shown with the test.
	Out string
}

// JUnitCases returns tests as JUnit XML: a test suite with a test case for each.
func JUnitCases(name string, started time.Time, took time.Duration, cases []Case) ([]byte, error) {
	suite := junitSuite{junitCounts: junitCounts{Name: name, Time: xmlSeconds(took.Seconds())},
		Timestamp: started.Format(time.RFC3339)}
	for _, c := range cases {
		one := junitCase{Name: plain(c.Name), Class: plain(c.Class), Time: xmlSeconds(c.Seconds), Out: plain(c.Out)}
		switch {
		case c.Failure != "":
			one.Failure = &junitReason{Message: plain(c.Failure), Type: "failed", Text: plain(c.Text)}
		case c.Skipped != "":
			one.Skipped = &junitReason{Message: plain(c.Skipped)}
		}
		suite.add(one)
	}
	out, err := xml.MarshalIndent(junitSuites{junitCounts: suite.junitCounts, Suites: []junitSuite{suite}}, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(out, '\n')...), nil
}

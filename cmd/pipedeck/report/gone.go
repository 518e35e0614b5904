// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"

// Gone is an application that HEAD does not have.
type Gone struct {
	Name   string
	Labels map[string]string
	// Deployment has deleted what the application had deployed; nil where none has.
	Deployment *deckv1.Deployment
	// Reason is how it ended, in words.
	Reason string
}

// gone is the report of an application that was removed.
func (f *Facts) gone(file string, of Gone) Application {
	a := Application{Name: of.Name, File: file, Labels: of.Labels}
	f.describe(&a, of.Deployment)
	f.end(&a, outcome{result: Removed, reason: of.Reason})
	return a
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import "fmt"

// Initialization is the document of pipedeck init.
type Initialization struct {
	Head
	// Repository is the root of the repository.
	Repository string `json:"repository"`
	// Applications are those that were found.
	Applications []InitializedApplication `json:"applications"`
	// Existing are the application configurations that exist.
	Existing []string `json:"existing"`
	// LeftOut are the paths that were left out.
	LeftOut []LeftOutPath `json:"left_out"`
	// Problems are what could not be read.
	Problems []InitializationNote `json:"problems"`
	// Unrendered says why applications were not rendered; empty when they were.
	Unrendered string `json:"unrendered"`
}

// ObjectCount is how many objects of a kind an application has.
type ObjectCount struct {
	// Kind is that of the objects.
	Kind string `json:"kind"`
	// Count is how many there are.
	Count int `json:"count"`
}

// InitializedApplication is an application that init has found.
type InitializedApplication struct {
	// File is the path of its configuration.
	File string `json:"file"`
	// Name is that of the application.
	Name string `json:"name"`
	// Source is what it was found by, such as manifests.
	Source string `json:"source"`
	// Reason says why it is an application.
	Reason string `json:"reason"`
	// Notes are what a user has to know.
	Notes []InitializationNote `json:"notes"`
	// Objects are the numbers of its objects by their kinds; empty when it was not rendered.
	Objects []ObjectCount `json:"objects"`
	// RenderError says why it cannot be rendered; empty when it can, and when it was not tried.
	RenderError string `json:"render_error"`
	// RenderPlace is where the repository has the cause of that, as file:line; empty when that is not known.
	RenderPlace string `json:"render_place"`
	// Content is the configuration.
	Content string `json:"content"`
	// Written says that the file was created.
	Written bool `json:"written"`
	// Error says why it could not be created; empty when it could.
	Error string `json:"error"`
}

// LeftOutPath is a path that init has left out.
type LeftOutPath struct {
	// Path is relative to the repository.
	Path string `json:"path"`
	// Reason says why.
	Reason string `json:"reason"`
}

// InitializationNote is about one file.
type InitializationNote struct {
	// File is the path of the file.
	File string `json:"file"`
	// Line counts from 1; 0 for a whole file.
	Line int `json:"line"`
	// Message says what to know.
	Message string `json:"message"`
}

// String is the note in one line.
func (n InitializationNote) String() string {
	if n.Line == 0 {
		return n.File + ": " + n.Message
	}
	return fmt.Sprintf("%s:%d: %s", n.File, n.Line, n.Message)
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rendering

// Argument makes the program of the plugin render, and do nothing else.
const Argument = "render-applications"

// CheckArgument makes the program check rules of health, and do nothing else. It reads the rules from standard input,
// as the piped configuration has them in JSON, and writes a list of Mistake.
const CheckArgument = "check-health"

// Mistake is a rule of health that cannot work.
type Mistake struct {
	// Rule is its place in the list, Key the key in it that is wrong.
	Rule int    `json:"rule"`
	Key  string `json:"key"`
	Text string `json:"text"`
}

// Request says what to render.
type Request struct {
	// Root is the directory of the repository. Nothing outside of it is read.
	Root string `json:"root"`
	// Applications are rendered one after another.
	Applications []Application `json:"applications"`
}

// Application is the configuration of an application, which does not need to exist yet.
type Application struct {
	// File is relative to Root, with slashes.
	File string `json:"file"`
	// Content is the configuration.
	Content string `json:"content"`
}

// Rendered is what an application has.
type Rendered struct {
	// File is that of the Application.
	File string `json:"file"`
	// Kinds are the numbers of its objects by their kinds, in the order in which they are applied.
	Kinds []Kind `json:"kinds,omitempty"`
	// Error says why it cannot be rendered; empty when it can. Files in it are relative to the folder of the
	// application.
	Error string `json:"error,omitempty"`
}

// Kind is how many objects of a kind there are.
type Kind struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/system/spelling"
)

// Error is one mistake (or warning) at one place of a configuration file.
type Error struct {
	File string
	// Line and Column count from 1; both are 0 when the place is the whole file.
	Line, Column int
	// Field is the path of the key, such as "spec.pipeline.stages[0].timeout".
	Field   string
	Message string
	// NoPlugin says that the plugin which the file asks for is not in the environment: nothing else is wrong here.
	NoPlugin bool
	// ForeignKey says that a secret is encrypted for a key that this piped does not have: nothing else is wrong here.
	ForeignKey bool
	// hidden is the number of mistakes that this one stands for, at the end of a list that was cut.
	hidden int
	// missing are the names of keys, one of which the mistake is the absence of.
	missing []string
}

// Error returns "file:line:column: field: message", leaving out what is not known.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	b.WriteString(": ")
	if e.Field != "" {
		b.WriteString(e.Field)
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	return b.String()
}

// Errors are all mistakes of one file, in the order of their places.
type Errors []*Error

// Error joins the mistakes, one a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.As access to each mistake.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, one := range e {
		list[i] = one
	}
	return list
}

// Report is the result of reading one file: its mistakes, and its content.
type Report struct {
	// Kind is the kind that the file names; "" when it names none that is known. For files that name none by their
	// form, it is KindPluginFile or KindPluginIndex.
	Kind             string
	Errors, Warnings Errors
	// V0 are the keys of PipeCD v0 in the file; they are among the errors or the warnings, too.
	V0 Errors
	// Piped and Application are what was read from a file of the kind, with or without mistakes; else nil.
	Piped       *Piped
	Application *Application
	// PluginFile is that of a file with the configuration of a plugin under development.
	PluginFile *PluginFile

	decoder *decoder
}

// Refuse returns the report of a file that is not read at all.
func Refuse(filename, message string) *Report {
	return &Report{decoder: &decoder{file: filename}, Errors: Errors{{File: filename, Message: message}}}
}

// Add reports what is wrong with a field of the file by more than the file itself shows.
func (r *Report) Add(field, message string) {
	at := r.decoder.place(field)
	r.Errors = append(r.Errors, &Error{File: r.decoder.file, Line: at.line, Column: at.column, Field: field,
		Message: message})
}

// Warn is Add for what works all the same.
func (r *Report) Warn(field, message string) {
	at := r.decoder.place(field)
	r.Warnings = append(r.Warnings, &Error{File: r.decoder.file, Line: at.line, Column: at.column, Field: field,
		Message: message})
}

// Nameless returns the mistake of an application that has no name; nil for others. Agents report no such application to
// a control plane.
func (r *Report) Nameless() *Error {
	const field = "spec.name"
	if r.Application == nil || r.Application.Name != "" || r.Failed(field) {
		return nil
	}
	at := r.decoder.place(field)
	return &Error{File: r.decoder.file, Line: at.line, Column: at.column, Field: field,
		Message: "is missing: an application is registered by its name"}
}

func (r *Report) take(spec any) {
	switch spec := spec.(type) {
	case *Piped:
		r.Piped = spec
	case *Application:
		r.Application = spec
	}
}

// File returns the name of the file, as it was given.
func (r *Report) File() string { return r.decoder.file }

// Has reports whether the file has the field, outside of what plugins own.
func (r *Report) Has(field string) bool {
	_, has := r.decoder.places[field]
	return has
}

// Sort puts errors and warnings into the order of their places, and bounds their number. It is called after Add and
// Warn.
func (r *Report) Sort() {
	r.Errors, r.Warnings = r.decoder.sorted(r.Errors), r.decoder.sorted(r.Warnings)
}

// Failed reports whether the field has a mistake.
func (r *Report) Failed(field string) bool {
	return slices.ContainsFunc(r.Errors, func(e *Error) bool { return e.Field == field })
}

// Refused reports whether agents refuse the file: it has mistakes other than keys that nothing reads.
func (r *Report) Refused() bool { return len(r.decoder.errors) > 0 }

// forAgents makes keys that nothing reads warnings, because another agent may read them.
func (r *Report) forAgents() *Report {
	r.Warnings = append(r.Warnings, r.decoder.unread...)
	r.Sort()
	return r
}

// forAuthors makes keys that nothing reads errors.
func (r *Report) forAuthors() *Report {
	misspelled := func(e *Error) bool { return slices.ContainsFunc(r.decoder.unread, e.isSlipOf) }
	// The lists may be those of the decoder, which a Document reads again.
	r.Errors = once(append(slices.DeleteFunc(slices.Clone(r.Errors), misspelled), r.decoder.unread...))
	r.Warnings = slices.DeleteFunc(slices.Clone(r.Warnings), misspelled)
	r.Sort()
	return r
}

// once leaves out what is said of the value of a mistake of the YAML itself, which stands for its content.
func once(list Errors) Errors {
	type at struct{ line, column int }
	refused := map[at]bool{}
	for _, e := range list {
		refused[at{e.Line, e.Column}] = refused[at{e.Line, e.Column}] || e.Field == "" && e.Column > 0
	}
	return slices.DeleteFunc(list, func(e *Error) bool { return e.Field != "" && refused[at{e.Line, e.Column}] })
}

// isSlipOf reports whether a mistake is the absence of a key that an unknown key was most likely meant to be.
func (e *Error) isSlipOf(unread *Error) bool {
	for _, name := range e.missing {
		around, found := strings.CutSuffix(e.Field, name)
		given, inside := strings.CutPrefix(unread.Field, around)
		if !found {
			given, inside = strings.CutPrefix(unread.Field, e.Field+".")
		}
		if inside && spelling.Nearest(given, []string{name}) != "" {
			return true
		}
	}
	return false
}

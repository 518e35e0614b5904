// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "reflect"

// Document is a file of pipedeck itself, which is no configuration of PipeCD, read with the rules, the bounds and the
// places of one: the tags json and config of a Go type say what may be in it.
type Document struct{ decoder *decoder }

// ReadDocument decodes a file into target, a pointer to a struct. filename is used in messages only; wanted is said of
// a file without keys ("want …"). Errors has what is wrong with the file.
func ReadDocument(data []byte, filename, wanted string, target any) *Document {
	d := newDecoder(filename)
	d.wanted = wanted
	if root := d.tree(data); root != nil {
		d.decode(root, reflect.ValueOf(target).Elem(), "")
	}
	return &Document{d}
}

// Refuse notes a mistake at a field, such as "steps[2].edit", unless one is known there.
func (d *Document) Refuse(field, format string, args ...any) {
	d.decoder.fieldf(field, format, args...)
}

// Place returns the line and the column of a field, or of the nearest field around it; both count from 1.
func (d *Document) Place(field string) (line, column int) {
	at := d.decoder.place(field)
	return at.line, at.column
}

// Errors returns the mistakes in the order of their places; none for a file that is right. It may be called again after
// more is refused.
func (d *Document) Errors() Errors {
	report := (&Report{decoder: d.decoder, Errors: d.decoder.errors}).forAuthors()
	return report.Errors
}

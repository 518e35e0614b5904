// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// bounds checks the rule positive of the config tag: more than 0. A value that the file does not give, or that has a
// mistake already, is not checked.
func (d *decoder) bounds(rule, field string, value reflect.Value) {
	if _, given := d.places[field]; !given || d.failed(field) || rule != "positive" {
		return
	}
	if value.Int() <= 0 {
		d.fieldf(field, "%v is not allowed here: want more than 0", value.Interface())
	}
}

// identifier checks a name that is sent to servers or written into commits: without the characters that separate
// it from what stands next to it there.
func (d *decoder) identifier(field, value, separators string) {
	if strings.ContainsAny(value, separators) || strings.ContainsFunc(value, isControl) ||
		strings.TrimSpace(value) != value {
		d.fieldf(field, "%q holds %q, a control character, or a blank at one end, which are not allowed here",
			shorten(value), separators)
	}
}

// The joiners of emoji and of Persian words are not visible by themselves.
const joiners = "\u200c\u200d"

// checkReadable refuses the name of an application that people could not read, or type, on one line.
func checkReadable(d *decoder, field, name string) {
	hidden := func(r rune) bool { return !unicode.IsGraphic(r) && !strings.ContainsRune(joiners, r) }
	switch {
	case strings.ContainsFunc(name, hidden):
		d.authorf(field, "%q holds a line break or a character that is not visible: want one line of text",
			shorten(name))
	case name != "" && strings.TrimSpace(name) == "":
		d.authorf(field, "%q is blank: want a name that people can read", name)
	case strings.TrimSpace(name) != name:
		d.warnf(d.place(field), field, "%q has a blank at one end, which belongs to the name", shorten(name))
	}
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// repositoryID checks an id, which agents use as the path of a folder.
func (d *decoder) repositoryID(field, id string) {
	segments := strings.Split(id, "/")
	bad := func(segment string) bool { return segment == "" || segment == "." || segment == ".." }
	if id != "" && (slices.ContainsFunc(segments, bad) || strings.ContainsAny(id, "\\") ||
		strings.ContainsFunc(id, isControl)) {
		d.fieldf(field, "%q is not allowed here: it is the name of a folder, so want no \"..\", no backslash, no "+
			"control character, and no slash at an end", shorten(id))
	}
}

// host refuses what cannot be the name or address of a host; none is fine.
func (d *decoder) host(field, name string) {
	if strings.HasPrefix(name, "-") || strings.ContainsAny(name, "/@") || strings.ContainsFunc(name, unicode.IsSpace) {
		d.fieldf(field, "%q is not the name or address of a host", shorten(name))
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// bounds checks the rules of the config tag that limit a value: positive (more than 0), from=N and to=N for
// numbers, percentage (at most 100), environment (a map by variable names), assignments (a list of NAME=value).
// A value that the file does not give, or that has a mistake already, is not checked.
func (d *decoder) bounds(rule, field string, value reflect.Value) {
	if _, given := d.places[field]; !given || d.failed(field) {
		return
	}
	name, limit, _ := strings.Cut(rule, "=")
	switch name {
	case "positive":
		if value.Int() <= 0 {
			d.fieldf(field, "%v is not allowed here: want more than 0", value.Interface())
		}
	case "from", "to":
		bound, err := strconv.ParseInt(limit, 10, 64)
		if err == nil && name == "from" && value.Int() < bound {
			d.fieldf(field, "%d is not allowed here: want %d at least", value.Int(), bound)
		} else if err == nil && name == "to" && value.Int() > bound {
			d.fieldf(field, "%d is not allowed here: want %d at most", value.Int(), bound)
		}
	case "percentage":
		if percent, err := strconv.Atoi(strings.TrimSuffix(value.String(), "%")); err == nil && percent > 100 {
			d.fieldf(field, "%q is not allowed here: want a percentage from 0 to 100", value.String())
		}
	case "environment":
		for _, entry := range value.MapKeys() {
			if variable := entry.String(); !isVariable(variable) {
				d.fieldf(join(field, variable), "%q is not the name of an environment variable: it is empty or holds =", shorten(variable))
			}
		}
	case "assignments":
		for i := range value.Len() {
			text := value.Index(i).String()
			if variable, _, ok := strings.Cut(text, "="); !ok || !isVariable(variable) {
				d.fieldf(fmt.Sprintf("%s[%d]", field, i), "want the form NAME=value") // The value may be a secret.
			}
		}
	}
}

func isVariable(name string) bool { return name != "" && !strings.ContainsAny(name, "=\x00") }

// identifier checks a name that is sent to servers or written into commits: without the characters that separate
// it from what stands next to it there.
func (d *decoder) identifier(field, value, separators string) {
	if strings.ContainsAny(value, separators) || strings.ContainsFunc(value, isControl) || strings.TrimSpace(value) != value {
		d.fieldf(field, "%q holds %q, a control character, or a blank at one end, which are not allowed here", shorten(value), separators)
	}
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// repositoryID checks an id, which agents use as the path of a folder.
func (d *decoder) repositoryID(field, id string) {
	segments := strings.Split(id, "/")
	bad := func(segment string) bool { return segment == "" || segment == "." || segment == ".." }
	if id != "" && (slices.ContainsFunc(segments, bad) || strings.ContainsAny(id, "\\") || strings.ContainsFunc(id, isControl)) {
		d.fieldf(field, "%q is not allowed here: it is the name of a folder, so want no \"..\", no backslash, no control character, and no slash at an end", shorten(id))
	}
}

// host refuses what cannot be the name or address of a host; none is fine.
func (d *decoder) host(field, name string) {
	if strings.HasPrefix(name, "-") || strings.ContainsAny(name, "/@") || strings.ContainsFunc(name, unicode.IsSpace) {
		d.fieldf(field, "%q is not the name or address of a host", shorten(name))
	}
}

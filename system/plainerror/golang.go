// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plainerror

import (
	"regexp"
	"strings"
)

// words replaces what Go's standard library and the YAML library write for programmers.
type words struct {
	// sign is in each text that the expression matches, and is found faster.
	sign       string
	expression *regexp.Regexp
	// plain is the text in its place, with $1 and so on for the groups.
	plain string
}

const (
	quoted = `"((?:[^"\\]|\\.)*)"`
	// begin is where the error of a part begins: words in the middle of a sentence are someone's own.
	begin = `(^|: |\n)`
)

var goWords = []words{
	{"time: ", regexp.MustCompile(begin + `time: missing unit in duration ` + quoted),
		`${1}"$2" has no unit; for example 5s`},
	{"time: ", regexp.MustCompile(begin + `time: unknown unit ` + quoted + ` in duration ` + quoted),
		`${1}"$3" has the unknown unit "$2"; for example 5s`},
	{"time: ", regexp.MustCompile(begin + `time: invalid duration ` + quoted),
		`${1}"$2" is not a duration; for example 5s`},
	{"parsing regexp", regexp.MustCompile(begin + `error parsing regexp: `), `${1}`},
	{"strconv.", regexp.MustCompile(begin + `strconv\.(?:ParseInt|ParseUint|Atoi): parsing ` + quoted +
		`: invalid syntax`), `${1}"$2" is not a whole number`},
	{"strconv.", regexp.MustCompile(begin + `strconv\.ParseFloat: parsing ` + quoted + `: invalid syntax`),
		`${1}"$2" is not a number`},
	{"strconv.", regexp.MustCompile(begin + `strconv\.ParseBool: parsing ` + quoted + `: invalid syntax`),
		`${1}"$2" is neither true nor false`},
	{"strconv.", regexp.MustCompile(begin + `strconv\.\w+: parsing ` + quoted + `: value out of range`),
		`${1}"$2" is too large or too small`},
	{"template: ", regexp.MustCompile(begin + `template: [\w./-]*:(\d+)(?::\d+)?: (?:executing ` + quoted +
		` at (<[^>]*>): )?`), `${1}line $2: `},
	{"json: ", regexp.MustCompile(begin + `json: unknown field ` + quoted), `${1}unknown key "$2"`},
	{"json: ", regexp.MustCompile(begin + `json: cannot unmarshal (\w+)(?: [^ ]+)? into Go struct field \w*\.([^ ]+) ` +
		`of type [^ ,;]+`), `${1}$3 cannot be a value of type $2`},
	{"json: ", regexp.MustCompile(begin + `json: cannot unmarshal (\w+)(?: [^ ]+)? into Go value of type [^ ,;]+`),
		`${1}it cannot be a value of type $2`},
	{"yaml: ", regexp.MustCompile(begin + `yaml: (?:unmarshal errors:\n\s*)?`), `${1}`},
	// An operation of the system on a file, whose path and reason say enough.
	{": ", regexp.MustCompile(begin + `(?:open|stat|lstat|fstatat|openat|read|readlink|chdir|fork/exec|mkdir|remove|` +
		`unlinkat) ([^:\n]+: (?:no such file or directory|permission denied|is a directory|not a directory|` +
		`too many levels of symbolic links|file exists|operation not permitted|no space left on device|` +
		`exec format error|text file busy|input/output error))`), `$1$2`},
}

// withoutGo replaces the words of Go's libraries in a text.
func withoutGo(text string) string {
	for _, w := range goWords {
		if strings.Contains(text, w.sign) {
			text = w.expression.ReplaceAllString(text, w.plain)
		}
	}
	return text
}

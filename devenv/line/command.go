// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package line

import (
	"regexp"
	"strings"
)

var (
	// environmentCommand matches the commands of pipedeck that are about one environment.
	environmentCommand = regexp.MustCompile(`\bpipedeck (up|attach|down|status|apps|deployments|plugins|logs|sync|` +
		`rollback|retry|remove|restart|approve|skip|cancel|tree|diff|events|history|open|event|encrypt|plan-preview|` +
		`break show|break|continue|shell|fault (?:add|list|clear)|plugin (?:attach|calls|detach|dev|record|rerun))\b`)
	// wholeCommand matches what follows a command that names its environment or needs none.
	wholeCommand = regexp.MustCompile("^[^;,`\n]*?--(name|state-dir|all|help)\\b")
)

// WithFlags returns a text for users whose commands find the environment again: flags, which begin with a space, follow
// each command of pipedeck that is about one and does not name it. Empty flags change nothing.
func WithFlags(text, flags string) string {
	if flags == "" {
		return text
	}
	places := environmentCommand.FindAllStringIndex(text, -1)
	var whole strings.Builder
	from := 0
	for i, place := range places {
		next := len(text)
		if i+1 < len(places) {
			next = places[i+1][0]
		}
		whole.WriteString(text[from:place[1]])
		if !wholeCommand.MatchString(text[place[1]:next]) {
			whole.WriteString(flags)
		}
		from = place[1]
	}
	return whole.String() + text[from:]
}

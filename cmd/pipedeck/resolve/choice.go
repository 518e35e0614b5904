// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/text"
)

// How well a word fits.
const (
	fitsNot = iota
	fitsBeginning
	fitsWhole
)

// Fit returns how well a word fits the best of names: 0 for not at all, more for the beginning of one, most for a whole
// one.
func Fit(word string, names ...string) int {
	best := fitsNot
	for _, name := range names {
		switch {
		case word == "" || name == "":
		case word == name:
			return fitsWhole
		case strings.HasPrefix(name, word) && (len(word) >= shortestID || !isRandom(name)):
			best = fitsBeginning
		}
	}
	return best
}

// shortestID is how much of a random identifier names it at least. A digit or a letter may be a typing error, and fits
// one of them by chance.
const shortestID = 4

// isRandom reports whether a name is a UUID or the hash of a commit, which no one has chosen.
func isRandom(name string) bool {
	return uuid.Validate(name) == nil || len(name) == 40 && strings.Trim(name, "0123456789abcdef") == ""
}

// FitWhole is Fit for a command that changes something: a name that someone has chosen has to be whole.
func FitWhole(word string, names ...string) int {
	best := fitsNot
	for _, name := range names {
		if fits := Fit(word, name); fits == fitsWhole || isRandom(name) {
			best = max(best, fits)
		}
	}
	return best
}

// Best returns those that a word fits best; none when it fits none.
func Best[T any](all []T, fit func(T) int) (found []T) {
	best := fitsBeginning
	for _, one := range all {
		switch fits := fit(one); {
		case fits > best:
			best, found = fits, []T{one}
		case fits == best:
			found = append(found, one)
		}
	}
	return found
}

// choice is something that a word may name.
type choice[T any] struct {
	value T
	// names are the words for it; the first is the one that users know.
	names []string
	// argument is a word that names nothing else.
	argument string
	// about is what distinguishes it from others.
	about string
	// unlisted things have names that no one types wrong: ids.
	unlisted bool
}

// pick returns the choice that the word names. noun says what is wanted, list how to see all of them.
func pick[T any](w Word, noun, list string, choices []choice[T]) (none T, err error) {
	if w.Text == "" {
		return none, exit.Usage(errors.New("the name of the "+noun+" is empty"), list)
	}
	found := Best(choices, func(c choice[T]) int { return w.fit(c.unlisted, c.names...) })
	switch len(found) {
	case 1:
		return found[0].value, nil
	case 0:
		return none, exit.Usage(fmt.Errorf("there is no %s %q", noun, w.Text),
			w.wholeHint(noun, list, namesOf(choices)))
	}
	var candidates []Candidate
	for _, c := range found {
		candidates = append(candidates, Candidate{w.with(c.argument), c.about})
	}
	return none, exit.Usage(fmt.Errorf("%q fits %d %ss", w.Text, len(found), strings.ReplaceAll(noun, " or ", "s or ")),
		OneOf(candidates, list))
}

// Candidate is a command that is about one thing alone, and what distinguishes this thing.
type Candidate struct{ Command, About string }

// maxCandidates bounds the commands in an error.
const maxCandidates = 10

// OneOf returns the next step that lists commands, one on each line. list says how to see all things.
func OneOf(candidates []Candidate, list string) string {
	if len(candidates) == 1 {
		return candidates[0].Command
	}
	hint := "run one of:"
	for _, c := range candidates[:min(len(candidates), maxCandidates)] {
		hint += "\n  " + c.Command
		if c.About != "" {
			hint += "   # " + text.Line(c.About)
		}
	}
	if more := len(candidates) - maxCandidates; more > 0 {
		hint += fmt.Sprintf("\n  and %d more; %s", more, list)
	}
	return hint
}

// fit is how well the word fits the best of names, which may be those that no one has chosen: ids.
func (w Word) fit(ids bool, names ...string) int {
	if w.line.whole && !ids {
		return FitWhole(w.Text, names...)
	}
	return Fit(w.Text, names...)
}

// namesOf are the names of the choices that are no ids, each once; nil where there are only ids.
func namesOf[T any](choices []choice[T]) []string {
	var names []string
	for _, c := range choices {
		if !c.unlisted {
			names = append(names, c.names[0])
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 && len(choices) == 0 {
		names = []string{}
	}
	return names
}

// wholeHint says which names begin with the word, where they have to be whole, and else what nearHint does.
func (w Word) wholeHint(noun, list string, names []string) string {
	begins := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return Fit(w.Text, name) == fitsNot })
	if w.line.whole && len(begins) > 0 {
		return "write the whole name, since the command changes something: " +
			strings.Join(begins[:min(len(begins), maxNear)], " or ") + "; " + list
	}
	return nearHint(w.Text, noun, list, names)
}

// nearHint names what the user may have meant, or all there is where that is little.
func nearHint(word, noun, list string, names []string) string {
	near := Nearest(word, names)
	switch {
	case len(near) > 0:
		return "did you mean " + strings.Join(near, " or ") + "? " + list
	case len(names) > maxCandidates || names == nil:
		return list
	}
	return session.Choices(noun, names)
}

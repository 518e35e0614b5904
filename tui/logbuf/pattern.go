// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package logbuf

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// Pattern is what is looked for. The zero value matches nothing.
type Pattern struct {
	text string
	re   *regexp.Regexp
	// fold: upper and lower case are the same.
	fold bool
	// needles are texts of which each match has one, in lower case when fold is set; none when that is not known.
	// exact: a line with one of them matches.
	needles []string
	exact   bool
}

// Compile reads a regular expression in the syntax of RE2. Without a capital letter it ignores case. A text without
// special characters is found as it is.
func Compile(text string) (Pattern, error) {
	if text == "" {
		return Pattern{}, nil
	}
	p := Pattern{text: text, fold: !hasCapital(text)}
	expression := text
	if p.fold {
		expression = "(?i)" + text
	}
	var err error
	if p.re, err = regexp.Compile(expression); err != nil {
		return Pattern{}, fmt.Errorf("no regular expression: %s", reason(err))
	}
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return Pattern{}, fmt.Errorf("no regular expression: %s", reason(err))
	}
	p.exact = regexp.QuoteMeta(text) == text
	p.needles = needles(tree)
	return p, nil
}

// reason is what is wrong with an expression, without the decoration.
func reason(err error) string {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return err.Error()
	}
	switch bad.Code {
	case syntax.ErrMissingParen:
		return `a bracket ( has no end; \( finds a bracket`
	case syntax.ErrUnexpectedParen:
		return `a bracket ) has no start; \) finds a bracket`
	case syntax.ErrMissingBracket:
		return `a bracket [ has no end; \[ finds a bracket`
	case syntax.ErrMissingRepeatArgument:
		return fmt.Sprintf(`%s repeats nothing; \%s finds it`, bad.Expr, bad.Expr)
	case syntax.ErrTrailingBackslash:
		return `a backslash at the end; \\ finds a backslash`
	}
	return fmt.Sprintf("%s: %s", bad.Code, bad.Expr)
}

// hasCapital reports whether text has a capital letter that is to be found: one behind a backslash is not.
func hasCapital(text string) bool {
	escaped := false
	return strings.ContainsFunc(text, func(r rune) bool {
		if escaped {
			escaped = false
			return false
		}
		escaped = r == '\\'
		return unicode.IsUpper(r)
	})
}

// String is the text of the pattern.
func (p Pattern) String() string { return p.text }

// Empty reports whether p matches nothing.
func (p Pattern) Empty() bool { return p.text == "" }

// Matches returns the places of p in line, as byte ranges that do not overlap and are not empty.
func (p Pattern) Matches(line string) [][2]int {
	if p.re == nil {
		return nil
	}
	var found [][2]int
	for _, at := range p.re.FindAllStringIndex(line, -1) {
		if at[1] > at[0] {
			found = append(found, [2]int{at[0], at[1]})
		}
	}
	return found
}

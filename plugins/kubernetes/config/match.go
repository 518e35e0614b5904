// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
)

// Match describes requests that the canary answers, whatever its share is, by one header or by one cookie.
type Match struct {
	// Header is a header of the request.
	Header *NamedValue `json:"header"`
	// Cookie is a cookie of the request.
	Cookie *NamedValue `json:"cookie"`
}

// NamedValue is a header or a cookie with the values that count: one text, or those of a regular expression.
type NamedValue struct {
	// Name is the name of the header or of the cookie.
	Name string `json:"name" jsonschema:"required,pattern=^[A-Za-z0-9_.-]+$,patternErrorMessage=a name such as x-a"`
	// Exact is the value.
	Exact string `json:"exact"`
	// Regex is a regular expression (RE2) for the whole value, where there is no exact value.
	Regex string `json:"regex" jsonschema:"format=regex"`
}

// ExtendSchema says that a match has a header or a cookie.
func (Match) ExtendSchema(schema map[string]any) { oneOf(schema, "header", "cookie") }

// ExtendSchema says that there is one value, or one expression.
func (NamedValue) ExtendSchema(schema map[string]any) { oneOf(schema, "exact", "regex") }

// oneOf says that a mapping has exactly one of two keys.
func oneOf(schema object, a, b string) {
	schema["allOf"] = []any{
		object{"anyOf": []any{object{"required": []string{a}}, object{"required": []string{b}}}},
		object{
			"not": object{"required": []string{a, b}}, "patternErrorMessage": "either " + a + " or " + b + ", not both",
		},
	}
}

// Value is the header or the cookie.
func (m Match) Value() NamedValue {
	if m.Cookie != nil {
		return *m.Cookie
	}
	return *m.Header
}

// Expression returns the regular expression for the header `cookie` of requests that have the cookie of the match. It
// holds for the whole header, also where a provider searches for an expression anywhere in a text.
func (m Match) Expression() string {
	value := "(?:" + m.Cookie.Regex + ")"
	if m.Cookie.Exact != "" {
		value = regexp.QuoteMeta(m.Cookie.Exact)
	}
	return `^(.*;\s*)?` + regexp.QuoteMeta(m.Cookie.Name) + "=" + value + `(\s*;.*)?$`
}

// String is how a user reads it: "header x-canary".
func (m Match) String() string {
	if m.Cookie != nil {
		return "cookie " + m.Cookie.Name
	}
	return "header " + m.Header.Name
}

// validate reports what cannot work, beginning with the key that it is about.
func (m Match) validate() error {
	if (m.Header == nil) == (m.Cookie == nil) {
		return errors.New("give either header or cookie")
	}
	key, v := "header", m.Value()
	if m.Cookie != nil {
		key = "cookie"
	}
	if v.Name == "" || (v.Exact == "") == (v.Regex == "") {
		return fmt.Errorf("%s: give name, and either exact or regex", key)
	}
	if !isName.MatchString(v.Name) {
		return fmt.Errorf("%s.name: %q is not a name such as x-canary: use letters, digits, _, . and -", key, v.Name)
	}
	if _, err := regexp.Compile(v.Regex); err != nil {
		return fmt.Errorf("%s.regex: %w", key, err)
	}
	return nil
}

// isName holds for names of headers and cookies, as the schema has them.
var isName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// Mirror sends copies of requests to a variant, whose answers are dropped.
type Mirror struct {
	// To is the variant that gets the copies. Default canary.
	To string `json:"to" jsonschema:"enum=canary,enum=baseline,default=canary"`
	// Percent is the percentage of the requests that are copied. Default 100.
	Percent *percent `json:"percent" jsonschema:"default=100"`
}

// ExtendSchema says that there are copies.
func (Mirror) ExtendSchema(schema map[string]any) {
	property, _ := schema["properties"].(object)["percent"].(object)
	property["allOf"] = []any{object{
		"not":                 object{"enum": []any{0, "0", "0%", "00", "00%"}},
		"patternErrorMessage": "at least 1, or no mirror",
	}}
}

// Share is the percentage of the requests that are copied.
func (m *Mirror) Share() int {
	if m.Percent == nil {
		return 100
	}
	return int(*m.Percent)
}

// Name is the variant that gets the copies.
func (m *Mirror) Name() string { return cmp.Or(m.To, DefaultCanaryValue) }

// Variant is the position of the variant that gets the copies among primary, canary and baseline.
func (m *Mirror) Variant() int {
	if m.Name() == DefaultBaselineValue {
		return 2
	}
	return 1
}

func (m *Mirror) validate() error {
	switch {
	case m.To != "" && m.To != DefaultCanaryValue && m.To != DefaultBaselineValue:
		return fmt.Errorf("to: %q is not a variant that can get copies; use canary or baseline", m.To)
	case m.Share() == 0:
		return errors.New("percent: must be at least 1; leave mirror out to copy nothing")
	}
	return nil
}

// SessionAffinity keeps a client at the variant that has answered it first.
type SessionAffinity struct {
	// Cookie is the name of the cookie that the provider sets.
	Cookie string `json:"cookie" jsonschema:"required,pattern=^[A-Za-z0-9_.-]+$,patternErrorMessage=a name such as web"`
}

// validate reports what cannot work, beginning after the key sessionAffinity. The nil value is fine.
func (s *SessionAffinity) validate() error {
	switch {
	case s == nil:
		return nil
	case s.Cookie == "":
		return errors.New(": give cookie, the name of the cookie")
	case !isName.MatchString(s.Cookie):
		return fmt.Errorf(".cookie: %q is not a name such as web: use letters, digits, _, . and -", s.Cookie)
	}
	return nil
}

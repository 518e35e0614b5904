// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package unit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Replicas is a number of replicas, or a share of a whole number of replicas. The zero value is not set; Of gives its
// default then.
type Replicas struct {
	set     bool
	percent bool
	number  int
}

// Count is a fixed number of replicas; below 0 is 0.
func Count(number int) Replicas { return Replicas{set: true, number: max(number, 0)} }

// Share is a percentage of replicas, between 0 and 100.
func Share(percent int) Replicas {
	return Replicas{set: true, percent: true, number: min(max(percent, 0), 100)}
}

// ParseReplicas reads "3" and "50%".
func ParseReplicas(text string) (Replicas, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	number, err := strconv.Atoi(digits)
	if err != nil || number < 0 || strings.HasPrefix(digits, "+") {
		return Replicas{}, fmt.Errorf("%q is not a number of replicas; write one as 3 or \"50%%\"", text)
	}
	if percent && number > 100 {
		return Replicas{}, fmt.Errorf("%q is more than all replicas; write at most \"100%%\"", text)
	}
	return Replicas{set: true, percent: percent, number: number}, nil
}

// IsSet is whether a value was given.
func (r Replicas) IsSet() bool { return r.set }

// Of is the number of replicas of a whole: a percentage is rounded up, so that a share of some is never none. unset is
// the result when no value was given.
func (r Replicas) Of(whole, unset int) int {
	switch {
	case !r.set:
		return unset
	case r.percent:
		return (max(whole, 0)*r.number + 99) / 100
	default:
		return r.number
	}
}

// String is the form of configurations: "3" or "50%"; empty when no value was given.
func (r Replicas) String() string {
	switch {
	case !r.set:
		return ""
	case r.percent:
		return strconv.Itoa(r.number) + "%"
	default:
		return strconv.Itoa(r.number)
	}
}

// MarshalJSON writes a number as a number and a percentage as a text; null when no value was given.
func (r Replicas) MarshalJSON() ([]byte, error) {
	switch {
	case !r.set:
		return []byte("null"), nil
	case r.percent:
		return json.Marshal(r.String())
	default:
		return json.Marshal(r.number)
	}
}

// UnmarshalJSON reads 3, "3" and "50%".
func (r *Replicas) UnmarshalJSON(data []byte) (err error) {
	text, given, err := amount(data)
	if err != nil || !given {
		return err
	}
	*r, err = ParseReplicas(text)
	return err
}

// JSONSchema is the schema of all forms. Package optionschema calls it.
func (Replicas) JSONSchema() map[string]any {
	return map[string]any{
		"type": []string{"integer", "string"}, "minimum": 0,
		"pattern":             `^([0-9]+|([0-9]|[1-9][0-9]|100)%)$`,
		"patternErrorMessage": `a number of replicas such as 3, or a share such as "50%"`,
	}
}

// Percentage is a share between 0 and 100. The zero value is not set; Or gives its default then.
type Percentage struct {
	set     bool
	percent int
}

// Percent is a percentage, between 0 and 100.
func Percent(percent int) Percentage {
	return Percentage{set: true, percent: min(max(percent, 0), 100)}
}

// ParsePercentage reads "20" and "20%".
func ParsePercentage(text string) (Percentage, error) {
	digits := strings.TrimSuffix(strings.TrimSpace(text), "%")
	percent, err := strconv.Atoi(digits)
	if err != nil || percent < 0 || percent > 100 || strings.HasPrefix(digits, "+") {
		return Percentage{}, fmt.Errorf("%q is not a percentage between 0 and 100; write one as 20 or \"20%%\"", text)
	}
	return Percentage{set: true, percent: percent}, nil
}

// IsSet is whether a value was given.
func (p Percentage) IsSet() bool { return p.set }

// Or is the number without its sign; unset is the result when no value was given.
func (p Percentage) Or(unset int) int {
	if !p.set {
		return unset
	}
	return p.percent
}

// String is such as "20%"; empty when no value was given.
func (p Percentage) String() string {
	if !p.set {
		return ""
	}
	return strconv.Itoa(p.percent) + "%"
}

// MarshalJSON writes a number; null when no value was given.
func (p Percentage) MarshalJSON() ([]byte, error) {
	if !p.set {
		return []byte("null"), nil
	}
	return json.Marshal(p.percent)
}

// UnmarshalJSON reads 20, "20" and "20%".
func (p *Percentage) UnmarshalJSON(data []byte) (err error) {
	text, given, err := amount(data)
	if err != nil || !given {
		return err
	}
	*p, err = ParsePercentage(text)
	return err
}

// JSONSchema is the schema of all forms. Package optionschema calls it.
func (Percentage) JSONSchema() map[string]any {
	return map[string]any{
		"type": []string{"integer", "string"}, "minimum": 0, "maximum": 100,
		"pattern":             `^([0-9]|[1-9][0-9]|100)%?$`,
		"patternErrorMessage": `a percentage such as 20 or "20%"`,
	}
}

// amount is the text of a JSON number or string; null is no amount.
func amount(data []byte) (text string, given bool, err error) {
	data = bytes.TrimSpace(data)
	if string(data) == "null" {
		return "", false, nil
	}
	if len(data) > 0 && data[0] == '"' {
		err := json.Unmarshal(data, &text)
		return text, true, err
	}
	return string(data), true, nil
}

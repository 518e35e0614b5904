// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"encoding/json"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
)

// minSecret is the length from which a text is worth hiding wherever it is: shorter ones are parts of other words.
const minSecret = 4

// Secrets are the sensitive texts and numbers that the plan has. Programs mark a value as sensitive where it is given,
// and print it where a resource hands it on.
func (s *Set) Secrets() []string { return slices.Concat(s.secrets, s.numbers) }

// secretsOf returns the sensitive texts of a plan and its sensitive numbers. A number is part of other numbers, so that
// a log alone hides it as a text.
func secretsOf(plan *tfjson.Plan) (texts, numbers []string) {
	marked(plan, func(value any) {
		list, one := &numbers, text(value)
		if given, is := value.(string); is {
			list, one = &texts, given
		}
		if len(one) >= minSecret && !slices.Contains(*list, one) {
			*list = append(*list, one)
		}
	})
	longestFirst(texts)
	longestFirst(numbers)
	return texts, numbers
}

// longestFirst sorts secrets: one may hold another one.
func longestFirst(list []string) {
	slices.SortFunc(list, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
}

// hide replaces secrets in all that is shown.
func (s *Set) hide() {
	for i := range s.Resources {
		for j := range s.Resources[i].Fields {
			s.Resources[i].Fields[j].hide(s.secrets)
		}
	}
	for i := range s.Outputs {
		s.Outputs[i].Field.hide(s.secrets)
	}
}

func (f *Field) hide(secrets []string) {
	for _, secret := range secrets {
		escaped, _ := json.Marshal(secret) // a text
		inner := string(escaped[1 : len(escaped)-1])
		f.Before = strings.ReplaceAll(f.Before, inner, sensitive)
		f.After = strings.ReplaceAll(f.After, inner, sensitive)
		f.Applied = strings.ReplaceAll(f.Applied, inner, sensitive)
	}
	f.Before, f.After, f.Applied = cut(f.Before), cut(f.After), cut(f.Applied)
}

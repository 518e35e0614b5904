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

// Secrets are the sensitive texts that the plan has. Programs mark a value as sensitive where it is given, and print it
// where a resource hands it on.
func (s *Set) Secrets() []string { return s.secrets }

func secretsOf(plan *tfjson.Plan) []string {
	found := secrets{}
	if plan.Config != nil && plan.Config.RootModule != nil {
		for name, variable := range plan.Config.RootModule.Variables {
			if given := plan.Variables[name]; variable.Sensitive && given != nil {
				found.collect(given.Value, true)
			}
		}
	}
	changes := []*tfjson.Change{}
	for _, r := range plan.ResourceChanges {
		changes = append(changes, r.Change)
	}
	for _, o := range plan.OutputChanges {
		changes = append(changes, o)
	}
	for _, c := range changes {
		if c != nil {
			found.collect(c.Before, c.BeforeSensitive)
			found.collect(c.After, c.AfterSensitive)
		}
	}
	var list []string
	for text := range found {
		list = append(list, text)
	}
	// A secret may hold another one.
	slices.SortFunc(list, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return list
}

// secrets is a set of texts.
type secrets map[string]bool

// collect adds the texts of a value that marks say are sensitive.
func (s secrets) collect(value, marks any) {
	switch v := value.(type) {
	case string:
		if marks == true && len(v) >= minSecret {
			s[v] = true
		}
	case map[string]any:
		for key, one := range v {
			s.collect(one, child(marks, key))
		}
	case []any:
		list, _ := marks.([]any)
		for i, one := range v {
			switch {
			case marks == true:
				s.collect(one, true)
			case i < len(list):
				s.collect(one, list[i])
			}
		}
	}
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
	}
	f.Before, f.After = cut(f.Before), cut(f.After)
}

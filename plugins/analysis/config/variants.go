// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"slices"
)

// variant is a variant that a metric compares, and its arguments; without a name it is none.
type variant struct {
	name string
	args map[string]string
}

// noVariant is for what compares no variants.
var noVariant = []variant{{}}

// sides are the variants that a strategy compares.
func (m *Metric) sides() []variant {
	switch m.Strategy {
	case CanaryBaseline:
		return []variant{{"canary", m.CanaryArgs}, {"baseline", m.BaselineArgs}}
	case CanaryPrimary:
		return []variant{{"canary", m.CanaryArgs}, {"primary", m.PrimaryArgs}}
	}
	return noVariant
}

// metric looks for mistakes in the texts of a metric.
func (r *references) metric(m *Metric) { r.variables("query", m.Query, m.sides()) }

// request looks for mistakes in the texts of a request.
func (r *references) request(h *HTTP) {
	r.variables("url", h.URL, noVariant)
	if path, message := h.mistake(); message != "" && (path[0] != "url" || h.URL != "") {
		r.addText(path, message)
	}
}

// variables looks for variables that cannot be read, and for those without a value.
func (r *references) variables(key, text string, sides []variant) {
	if err := checkVariables(key, text); err != nil {
		r.addText([]string{key}, err.Error())
		return
	}
	var known []string
	for _, side := range sides {
		for _, name := range r.values().Of(side.name, side.args).unknown(text, r.anyArgs) {
			if slices.Contains(known, name) {
				continue
			}
			known = append(known, name)
			r.addText([]string{key}, fmt.Sprintf("the variable {{ %s }} has no value", name))
		}
	}
}

// addText adds a mistake in a text.
func (r *references) addText(path []string, message string) { r.add(r.place(path, message)) }

// place is where a value stands, and the message on it: at the name of a template if the value is in the template.
func (r *references) place(path []string, message string) ([]string, string) {
	var given map[string]json.RawMessage
	_ = json.Unmarshal(r.given, &given) // what cannot be read is an error already
	if _, gives := given[path[0]]; r.reference == nil || gives {
		return path, message
	}
	return []string{"template", "name"}, fmt.Sprintf("%s of %q: %s", path[0], r.reference.Name, message)
}

// values are the variables of the application.
func (r *references) values() Variables {
	return ForApplication("", r.known.CustomArgs, nil).With(r.reference)
}

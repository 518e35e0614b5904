// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
)

// values are sensitive texts and numbers, as JSON, which are hidden where a whole value is one of them. Short ones are
// hidden only in the resource that has them: elsewhere they are other things.
type values map[string]bool

// valuesOf are the sensitive values of a plan that are long enough to be the same thing wherever they are.
func valuesOf(plan *tfjson.Plan) values {
	found := values{}
	marked(plan, func(value any) {
		if one := text(value); len(strings.Trim(one, `"`)) >= minSecret {
			found[one] = true
		}
	})
	return found
}

// with adds the sensitive values of one change, however short.
func (v values) with(c *tfjson.Change) values {
	own := values{}
	add := func(value any) { own[text(value)] = true }
	each(c.Before, c.BeforeSensitive, add)
	each(c.After, c.AfterSensitive, add)
	if len(own) == 0 {
		return v
	}
	for one := range v {
		own[one] = true
	}
	return own
}

// redact returns a value without sensitive ones in it.
func (v values) redact(value any) any {
	if len(v) == 0 {
		return value
	}
	switch in := value.(type) {
	case string, float64:
		if v[text(in)] {
			return sensitive
		}
	case map[string]any:
		out := make(map[string]any, len(in))
		for key, one := range in {
			out[key] = v.redact(one)
		}
		return out
	case []any:
		out := make([]any, len(in))
		for i, one := range in {
			out[i] = v.redact(one)
		}
		return out
	}
	return value
}

// text is a value as JSON without sensitive ones in it; secret is whether nothing else is left.
func (v values) text(value any) (shown string, secret bool) {
	redacted := v.redact(value)
	if redacted == sensitive && value != sensitive {
		return sensitive, true
	}
	return text(redacted), false
}

// marked calls a function with each text and number that a plan says is sensitive.
func marked(plan *tfjson.Plan, found func(any)) {
	if plan.Config != nil && plan.Config.RootModule != nil {
		for name, variable := range plan.Config.RootModule.Variables {
			if given := plan.Variables[name]; variable.Sensitive && given != nil {
				each(given.Value, true, found)
			}
		}
	}
	both := func(c *tfjson.Change) {
		if c != nil {
			each(c.Before, c.BeforeSensitive, found)
			each(c.After, c.AfterSensitive, found)
		}
	}
	for _, r := range plan.ResourceChanges {
		both(r.Change)
	}
	for _, o := range plan.OutputChanges {
		both(o)
	}
}

// each calls a function with the texts and numbers of a value that marks say are sensitive.
func each(value, marks any, found func(any)) {
	switch v := value.(type) {
	case string, float64:
		if marks == true && v != "" {
			found(v)
		}
	case map[string]any:
		for key, one := range v {
			each(one, child(marks, key), found)
		}
	case []any:
		list, _ := marks.([]any)
		for i, one := range v {
			switch {
			case marks == true:
				each(one, true, found)
			case i < len(list):
				each(one, list[i], found)
			}
		}
	}
}

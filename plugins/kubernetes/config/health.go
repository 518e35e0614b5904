// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"path"
)

const (
	// maxHealthRules bounds the rules of a plugin, maxHealthText the expression or script of one, in bytes.
	maxHealthRules = 256
	maxHealthText  = 64 << 10
)

// HealthRule judges the objects of some kinds. The first rule for a kind counts.
type HealthRule struct {
	// Group is the API group of the kinds, without the version; * stands for any text. Default: the core group.
	Group string `json:"group"`
	// Kind is the name of the kind; * stands for any text.
	Kind string `json:"kind" jsonschema:"required"`
	// CEL is an expression over the variable object. It gives Healthy, Progressing, Degraded, Suspended, Missing or
	// Unknown, a map with this as status and a message, or null to judge the object as without a rule.
	CEL string `json:"cel" jsonschema:"maxLength=65536"`
	// Lua is a script in place of an expression, as Argo CD has it: obj is the object, and a table with status and
	// message is returned.
	Lua string `json:"lua" jsonschema:"maxLength=65536"`
}

// Check reports what is wrong with a rule whatever its expression or script says, and the key of it.
func (r HealthRule) Check() (key string, err error) {
	for _, pattern := range []struct{ key, text string }{{"group", r.Group}, {"kind", r.Kind}} {
		if _, err := path.Match(pattern.text, ""); err != nil {
			return pattern.key, fmt.Errorf("%q is not a name, or a pattern with *", pattern.text)
		}
	}
	switch {
	case r.Kind == "":
		return "kind", errors.New("must be given")
	case r.CEL == "" && r.Lua == "":
		return "cel", errors.New("must be given, or lua")
	case r.CEL != "" && r.Lua != "":
		return "lua", errors.New("cannot be given with cel")
	case len(r.CEL) > maxHealthText:
		return "cel", fmt.Errorf("is longer than %d bytes", maxHealthText)
	case len(r.Lua) > maxHealthText:
		return "lua", fmt.Errorf("is longer than %d bytes", maxHealthText)
	}
	return "", nil
}

func checkHealth(rules []HealthRule) error {
	if len(rules) > maxHealthRules {
		return fmt.Errorf("health: has %d rules, more than %d", len(rules), maxHealthRules)
	}
	var errs []error
	for i, rule := range rules {
		if key, err := rule.Check(); err != nil {
			errs = append(errs, fmt.Errorf("health[%d].%s: %w", i, key, err))
		}
	}
	return errors.Join(errs...)
}

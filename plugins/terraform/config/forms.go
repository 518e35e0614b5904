// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"regexp"
)

// object is a part of a schema.
type object = map[string]any

const (
	// workspacePattern is what the program takes as the name of a workspace: a part of a URL. None is allowed here.
	workspacePattern = `^[A-Za-z0-9_.~$&+=:@-]*$`
	workspaceForm    = "a name of letters, digits and - _ . without spaces and slashes"

	// onePattern is one version with an operator, constraintPattern several ones, or none.
	onePattern        = ` *(=|!=|>|<|>=|<=|~>)? *v?[0-9]+([.][0-9]+)*([-+][0-9A-Za-z.+~-]+)? *`
	constraintPattern = `^(` + onePattern + `(,` + onePattern + `)*)?$`
	constraintForm    = `a version such as 1.8.0, or a constraint such as ">= 1.8, < 2"`

	// outPattern is the flag of a file that the plugin chooses.
	outPattern = `^--?out(=|$)`
	outForm    = "no -out, because the plugin chooses the file of the plan, which it applies later"
)

var (
	workspaceName     = regexp.MustCompile(workspacePattern)
	versionConstraint = regexp.MustCompile(constraintPattern)
	outFlag           = regexp.MustCompile(outPattern)
)

// ExtendSchema says what the texts have to be.
func (Application) ExtendSchema(schema map[string]any) {
	refine(schema, "workspace", object{"pattern": workspacePattern, "patternErrorMessage": workspaceForm})
	refine(schema, "terraformVersion", object{"pattern": constraintPattern, "patternErrorMessage": constraintForm})
}

// ExtendSchema says what the texts have to be.
func (Target) ExtendSchema(schema map[string]any) {
	refine(schema, "workspace", object{"pattern": workspacePattern, "patternErrorMessage": workspaceForm})
}

// ExtendSchema refuses flags that the plugin sets itself.
func (Flags) ExtendSchema(schema map[string]any) {
	for _, key := range []string{"shared", "plan"} {
		list, _ := schema["properties"].(object)[key].(object)
		items, _ := list["items"].(object)
		items["allOf"] = []any{object{"not": object{"pattern": outPattern}, "patternErrorMessage": outForm}}
	}
}

// refine adds rules to a property.
func refine(schema object, key string, rules object) {
	property, _ := schema["properties"].(object)[key].(object)
	for keyword, rule := range rules {
		property[keyword] = rule
	}
}

func checkWorkspace(name string) error {
	if !workspaceName.MatchString(name) {
		return fmt.Errorf("workspace is %q, want %s", name, workspaceForm)
	}
	return nil
}

func checkConstraint(text string) error {
	if !versionConstraint.MatchString(text) {
		return fmt.Errorf("terraformVersion is %q, want %s", text, constraintForm)
	}
	return nil
}

func checkFlags(key string, flags []string) error {
	for _, flag := range flags {
		if outFlag.MatchString(flag) {
			return fmt.Errorf("%s has %s, want %s", key, flag, outForm)
		}
	}
	return nil
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// Suffix is the end of the names of a variant's resources, behind a hyphen; empty for the default.
type Suffix string

// suffixPattern keeps to what Kubernetes takes at the end of a name: letters and digits last, and around dots.
const suffixPattern = `^([a-z0-9-]*[a-z0-9]([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*)?$`

var validSuffix = regexp.MustCompile(suffixPattern)

// JSONSchema is for the schema of the options.
func (Suffix) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": suffixPattern,
		"patternErrorMessage": "a name like v2, which ends with a letter or a digit"}
}

// UnmarshalJSON refuses a suffix that Kubernetes would refuse in each name.
func (s *Suffix) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if !validSuffix.MatchString(text) {
		return fmt.Errorf("suffix %q: names of Kubernetes cannot end like that; want a name like v2, which ends with "+
			"a letter or a digit", text)
	}
	*s = Suffix(text)
	return nil
}

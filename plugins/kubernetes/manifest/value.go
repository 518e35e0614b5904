// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import "fmt"

// ParseValue reads one YAML value, of any form, by the rules that manifests are read by; nothing at all is nil. name
// says in errors where the text is from.
func ParseValue(text, name string) (any, error) {
	documents, err := decodeYAML([]byte(text), name)
	switch {
	case err != nil:
		return nil, err
	case len(documents) > 1:
		return nil, fmt.Errorf("%s: want one YAML document, not %d", name, len(documents))
	case len(documents) == 0:
		return nil, nil
	}
	return documents[0].value, nil
}

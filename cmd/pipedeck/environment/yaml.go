// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/system/yamlplace"
)

// placed is an error of the YAML library with its line.
var placed = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)

// yamlMistakes returns what keeps a file of YAML documents from being read, as file:line: what; nothing for a good one.
func yamlMistakes(name string, content []byte) []string {
	documents := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var document any
		err := documents.Decode(&document)
		switch twice := (*yaml.TypeError)(nil); {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &twice): // a key that stands twice
			var mistakes []string
			for _, one := range twice.Errors {
				mistakes = append(mistakes, yamlMistake(name, one))
			}
			return mistakes
		case err != nil:
			return []string{yamlMistake(name, yamlplace.Error(content, err).Error())}
		}
	}
}

func yamlMistake(name, message string) string {
	if parts := placed.FindStringSubmatch(message); parts != nil {
		return fmt.Sprintf("%s:%s: not valid YAML: %s", name, parts[1], parts[2])
	}
	return name + ": not valid YAML: " + strings.TrimPrefix(message, "yaml: ")
}

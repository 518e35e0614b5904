// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// ignoreRule takes a field, and what is below it, out of drift detection.
type ignoreRule struct {
	apiVersion string
	key        manifest.Key
	path       string
}

// ignoreRules reads spec.driftDetection.ignoreFields, each "apiVersion:kind:namespace:name#path" (PipeCD). In a path
// the elements of lists are numbers: spec.template.spec.containers.0.image or …containers[0].image.
func ignoreRules(configuration []byte) ([]ignoreRule, error) {
	var document struct {
		Spec struct {
			DriftDetection struct {
				IgnoreFields []string `yaml:"ignoreFields"`
			} `yaml:"driftDetection"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal(configuration, &document); err != nil {
		return nil, err
	}
	var rules []ignoreRule
	for i, text := range document.Spec.DriftDetection.IgnoreFields {
		object, path, _ := strings.Cut(text, "#")
		parts := strings.SplitN(object, ":", 4)
		if len(parts) != 4 || path == "" {
			return nil, fmt.Errorf("spec.driftDetection.ignoreFields[%d]: %q is not "+
				"apiVersion:kind:namespace:name#path", i, text)
		}
		rules = append(rules, ignoreRule{
			apiVersion: parts[0],
			key:        manifest.Key{Kind: parts[1], Namespace: parts[2], Name: parts[3]}.Fold(),
			path:       strings.NewReplacer("[", ".", "]", "").Replace(path),
		})
	}
	return rules, nil
}

func (d *drift) isIgnored(m manifest.Manifest, one difference) bool {
	key := m.Key().Fold()
	key.Group = ""
	for _, rule := range d.ignored {
		if rule.apiVersion == m.GetAPIVersion() && rule.key == key &&
			(one.indexed == rule.path || strings.HasPrefix(one.indexed, rule.path+".")) {
			return true
		}
	}
	return false
}

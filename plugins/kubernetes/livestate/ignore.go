// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/goccy/go-yaml"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/ignorefield"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// ignoreRule takes fields, and what is below them, out of drift detection.
type ignoreRule struct {
	ignorefield.Rule
	// field is where it stands in the configuration; empty for what the plugin ignores by itself.
	field string
	// list is where an object has the list that stages for traffic write, of which the field is a part: what someone
	// else has written there counts. Empty for other rules.
	list string
	// found is set once the rule has named a field that is there.
	found atomic.Bool
}

// ignoreRules reads spec.driftDetection.ignoreFields.
func ignoreRules(configuration []byte) ([]*ignoreRule, error) {
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
	var rules []*ignoreRule
	for i, text := range document.Spec.DriftDetection.IgnoreFields {
		field := fmt.Sprintf("driftDetection.ignoreFields[%d]", i)
		rule, err := ignorefield.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("spec.%s: %q %w", field, text, err)
		}
		rules = append(rules, &ignoreRule{Rule: rule, field: field})
	}
	return rules, nil
}

func (r *ignoreRule) isFor(m manifest.Manifest) bool {
	return r.Matches(m.GetAPIVersion(), m.GetKind(), m.GetNamespace(), m.GetName())
}

// isIgnored reports whether a difference does not count. live is nil for what is not in the cluster.
func (d *drift) isIgnored(m manifest.Manifest, live *unstructured.Unstructured, one difference) bool {
	git, inCluster := one.git, one.live
	parted := false
	var whole ignorefield.Difference
	for _, rule := range d.ignored {
		if !rule.isFor(m) || rule.list != "" && live != nil && lastManager(live, one.path) != "" {
			continue
		}
		if rule.Manager != "" {
			if rule.wrote(live, one.path) {
				return true
			}
			continue
		}
		if whole.Parts == nil {
			whole = ignorefield.Difference{Parts: one.parts(), Git: m.Object, Indexed: one.indexed}
			if live != nil {
				whole.Live = live.Object
			}
		}
		covered, rest, below := rule.Covers(whole)
		if covered {
			return true
		}
		if below {
			git, inCluster, parted = rest.Without(git), rest.Without(inCluster), true
		}
	}
	if !parted {
		return false
	}
	left := &comparison{both: one.both}
	left.values(git, inCluster, step{one.path, one.indexed})
	return len(left.found) == 0
}

// wrote reports whether a manager of the rule has written a field of a live object.
func (r *ignoreRule) wrote(live *unstructured.Unstructured, path string) bool {
	if live == nil {
		return false
	}
	for _, entry := range live.GetManagedFields() {
		if r.MatchesManager(entry.Manager) && owns(entry, live, path) {
			return true
		}
	}
	return false
}

// parts takes the path of a difference apart.
func (d difference) parts() (parts []ignorefield.Part) {
	indexed := d.indexed
	for path := d.path; path != ""; {
		var p ignorefield.Part
		p.Name, p.InList, path = nextStep(path)
		own := p.Name
		if p.InList {
			own, _, _ = strings.Cut(indexed, ".")
			p.Index, _ = strconv.Atoi(own) // it is written as a number
			if p.Name == own {
				p.Name = ""
			}
		}
		indexed = strings.TrimPrefix(strings.TrimPrefix(indexed, own), ".")
		parts = append(parts, p)
	}
	return parts
}

// idle says of each rule of the configuration that ignores nothing why that is so. A field that is not in Git may be
// one of an object that is not in the cluster yet: that is not known.
func (d *drift) idle(manifests []manifest.Manifest, places []place,
	live map[manifest.Key]*unstructured.Unstructured) map[string]string {
	reasons := map[string]string{}
	for _, rule := range d.ignored {
		if rule.field == "" || rule.found.Load() {
			continue
		}
		if reason := rule.idle(manifests, places, live); reason != "" {
			reasons[rule.field] = reason
		} else {
			rule.found.Store(true)
		}
	}
	return reasons
}

func (r *ignoreRule) idle(manifests []manifest.Manifest, places []place,
	live map[manifest.Key]*unstructured.Unstructured) string {
	named := false
	for _, m := range manifests { // without those that appStateInformer leaves out, a rule may seem to name none
		if r.isFor(m) {
			named = true
			if r.Manager == "" && r.Finds(m.Object) {
				return ""
			}
		}
	}
	for _, p := range places {
		if !r.isFor(p.manifest) {
			continue
		}
		named = true
		o := live[p.manifest.Key().Fold()]
		if o == nil || r.Manager == "" && (r.Finds(o.Object) || r.Finds(p.manifest.Object)) || r.wroteAny(o) {
			return ""
		}
	}
	switch {
	case !named:
		return "no object of the application is " + r.Object
	case r.Manager != "":
		return "no field of " + r.Object + " was written by " + r.Manager
	}
	return r.Object + " has no such field in Git or in the cluster: " + r.Field
}

func (r *ignoreRule) wroteAny(live *unstructured.Unstructured) bool {
	for _, entry := range live.GetManagedFields() {
		if r.MatchesManager(entry.Manager) {
			return true
		}
	}
	return false
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"

	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// Moment is when in the life of its release a chart is rendered. The zero Moment is the first installation.
type Moment struct {
	// Upgrade is .Release.IsUpgrade, and the opposite of .Release.IsInstall.
	Upgrade bool
	// Revision is .Release.Revision; 0 for the least that it can be: 1, or 2 for an upgrade.
	Revision int
}

func (m Moment) revision() int {
	if m.Upgrade {
		return cmp.Or(m.Revision, 2)
	}
	return cmp.Or(m.Revision, 1)
}

// momentWords are the fields of .Release that differ between moments.
var momentWords = regexp.MustCompile(`\b(IsInstall|IsUpgrade|Revision)\b`)

// readsMoment reports whether a chart may render otherwise at another Moment. Values and files count, too: templates
// may run them as templates.
func readsMoment(c *chart.Chart, values map[string]any) bool {
	text, err := json.Marshal(values)
	return err != nil || momentWords.Match(text) || chartReadsMoment(c)
}

func chartReadsMoment(c *chart.Chart) bool {
	for _, f := range c.Templates {
		if f != nil && momentWords.Match(f.Data) {
			return true
		}
	}
	for _, f := range c.Files {
		if f != nil && bytes.Contains(f.Data, []byte("{{")) && momentWords.Match(f.Data) {
			return true
		}
	}
	for _, d := range c.Dependencies() {
		if chartReadsMoment(d) {
			return true
		}
	}
	return false
}

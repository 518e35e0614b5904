// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// ComparesItself is what is said of a query that is the same for both variants.
const ComparesItself = "is the same for both variants, so the strategy compares it with itself and never fails: " +
	"use {{ .Variant.Name }} or {{ .VariantArgs.NAME }} in it"

// Doubts returns what is accepted, as PipeCD accepts it, though it hardly does what its author expects.
func (o *Options) Doubts() []string {
	var found []string
	add := func(list string, i int, key, doubt string) {
		if doubt != "" {
			found = append(found, fmt.Sprintf("%s[%d]: %s %s", list, i, key, doubt))
		}
	}
	for i := range o.Metrics {
		m := &o.Metrics[i]
		add("metrics", i, "expected", m.unusedLimits())
		add("metrics", i, "failureLimit", o.allows(m.Interval, m.FailureLimit))
	}
	for i := range o.Logs {
		add("logs", i, "failureLimit", o.allows(o.Logs[i].Interval, o.Logs[i].FailureLimit))
	}
	for i := range o.HTTPS {
		add("https", i, "failureLimit", o.allows(o.HTTPS[i].Interval, o.HTTPS[i].FailureLimit))
	}
	return found
}

// allows is the doubt that an entry can never fail the stage: each of its evaluations may fail.
func (o *Options) allows(interval sdk.Duration, failureLimit int) string {
	if interval <= 0 || interval > o.Duration {
		return ""
	}
	evaluations := int(o.Duration/interval) + 1 // at both ends
	if failureLimit < evaluations {
		return ""
	}
	return fmt.Sprintf("%d allows each of the %d evaluations to fail, so the entry can never fail the stage: "+
		"want %d at most", failureLimit, evaluations, evaluations-1)
}

// unusedLimits is the doubt that a metric has limits which its strategy does not read.
func (m *Metric) unusedLimits() string {
	if !m.Compares() || m.Expected == nil {
		return ""
	}
	return fmt.Sprintf("is not used: strategy %s compares samples with each other. Limits need strategy "+
		"THRESHOLD, for example in a separate metric", m.Strategy)
}

// sameSides is the doubt that a metric compares a query with itself.
func (r *references) sameSides(m *Metric) string {
	sides := m.sides()
	if len(sides) < 2 || m.Query == "" {
		return ""
	}
	var filled [2]string
	for i, side := range sides {
		var err error
		if filled[i], err = r.values().Of(side.name, side.args).Fill(m.Query); err != nil {
			return "" // a mistake already, or a Service
		}
	}
	if filled[0] != filled[1] {
		return ""
	}
	return ComparesItself
}

// doubt adds a warning; an empty message is none.
func (r *references) doubt(key, message string) {
	if message == "" {
		return
	}
	path, message := r.place([]string{key}, message)
	r.add(path, message)
	r.found[len(r.found)-1].Warning = true
}

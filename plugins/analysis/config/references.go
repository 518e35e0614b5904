// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Known is what the options of a stage may refer to.
type Known struct {
	// Providers are the names of the analysis providers; nil when they are not known.
	Providers []string
	// LogProviders are those among them that have logs.
	LogProviders []string
	// Headers are the names of the headers with secrets; only looked at where Providers are known.
	Headers []string
	// Folder is the folder .pipe of the repository; nil when it is not known.
	Folder *Folder
	// CustomArgs are the appCustomArgs of the application.
	CustomArgs map[string]string
}

// Folder has the templates of a folder .pipe.
type Folder struct{ templates raw }

// ReadFolder reads the templates of a folder, which need not exist.
func ReadFolder(folder string) (*Folder, error) {
	templates, err := readTemplates(folder)
	if err != nil {
		return nil, err
	}
	return &Folder{templates}, nil
}

// Mistake is what is wrong in the options of a stage, or in a file of templates, such as a name that refers to nothing.
type Mistake struct {
	// Path are the keys and indexes that lead to it.
	Path    []string
	Message string
	// Warning is whether the stage is executed all the same.
	Warning bool
}

// Mistakes returns what the schema of the options cannot find: names of providers, templates and variables that refer
// to nothing, texts that cannot be read, and what can never fail.
func (o *Options) Mistakes(known Known) []Mistake {
	var found []Mistake
	if o.empty() {
		found = append(found, Mistake{Message: "has no metrics, logs or https: there is nothing to evaluate"})
	}
	var all raw
	if known.Folder != nil {
		all = known.Folder.templates
	}
	for i := range o.Metrics {
		m := &o.Metrics[i]
		at := references{known: known, at: []string{"metrics", strconv.Itoa(i)}, reference: m.Template, given: m.given}
		at.provider(m.Provider)
		if merge(&at, all.Metrics, m.given, &m.Metric) {
			at.metric(&m.Metric)
			at.doubt("expected", m.unusedLimits())
			at.doubt("query", at.sameSides(&m.Metric))
			at.doubt("failureLimit", o.allows(m.Interval, m.FailureLimit))
		}
		found = append(found, at.found...)
	}
	for i := range o.Logs {
		l := &o.Logs[i]
		at := references{known: known, at: []string{"logs", strconv.Itoa(i)}, reference: l.Template, given: l.given}
		at.logs(l.Provider)
		if merge(&at, all.Logs, l.given, &l.Log) {
			at.variables("query", l.Query, noVariant)
			at.doubt("failureLimit", o.allows(l.Interval, l.FailureLimit))
		}
		found = append(found, at.found...)
	}
	for i := range o.HTTPS {
		h := &o.HTTPS[i]
		at := references{known: known, at: []string{"https", strconv.Itoa(i)}, reference: h.Template, given: h.given}
		at.headers(h.HeadersFrom)
		if merge(&at, all.HTTPS, h.given, &h.HTTP) {
			at.request(&h.HTTP)
			at.doubt("failureLimit", o.allows(h.Interval, h.FailureLimit))
		}
		found = append(found, at.found...)
	}
	return found
}

// Mistakes returns the names of templates that refer to nothing. The arguments of an application are not known here.
func (t *Templates) Mistakes(known Known) []Mistake {
	var found []Mistake
	for _, name := range sortedKeys(t.Metrics) {
		m := t.Metrics[name]
		at := references{known: known, at: []string{"metrics", name}, anyArgs: true}
		at.provider(m.Provider)
		at.metric(&m)
		found = append(found, at.found...)
	}
	for _, name := range sortedKeys(t.Logs) {
		at := references{known: known, at: []string{"logs", name}, anyArgs: true}
		at.logs(t.Logs[name].Provider)
		at.variables("query", t.Logs[name].Query, noVariant)
		found = append(found, at.found...)
	}
	for _, name := range sortedKeys(t.HTTPS) {
		at := references{known: known, at: []string{"https", name}, anyArgs: true}
		h := t.HTTPS[name]
		at.headers(h.HeadersFrom)
		at.request(&h)
		found = append(found, at.found...)
	}
	return found
}

// references looks for mistakes in one entry.
type references struct {
	known     Known
	at        []string
	reference *TemplateRef
	// given are the keys of the stage, where the entry is one of a stage.
	given json.RawMessage
	// anyArgs is whether the entry is a template, which stages give arguments of any name, and their strategy.
	anyArgs bool
	found   []Mistake
}

func (r *references) add(key []string, message string) {
	r.found = append(r.found, Mistake{Path: slices.Concat(r.at, key), Message: message})
}

func (r *references) provider(name string) {
	if name == "" || r.known.Providers == nil || slices.Contains(r.known.Providers, name) {
		return
	}
	r.add([]string{"provider"}, fmt.Sprintf("%q is not among the analysisProviders of the piped configuration: %s",
		name, orNone(r.known.Providers)))
}

// logs is provider for an entry of logs.
func (r *references) logs(name string) {
	r.provider(name)
	if slices.Contains(r.known.Providers, name) && !slices.Contains(r.known.LogProviders, name) {
		r.add([]string{"provider"}, fmt.Sprintf("%q has no logs: want a provider of the type %s", name, Stackdriver))
	}
}

func (r *references) headers(names []string) {
	for i, name := range names {
		if r.known.Providers != nil && !slices.Contains(r.known.Headers, name) {
			r.add([]string{"headersFrom", strconv.Itoa(i)}, fmt.Sprintf("%q is not among the httpHeaders of the piped "+
				"configuration: %s", name, orNone(r.known.Headers)))
		}
	}
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// merge lays the keys of the stage over those of the template. It reports whether the entry is known then.
func merge[T any](r *references, all map[string]json.RawMessage, given json.RawMessage, entry *T) bool {
	if r.reference == nil {
		return true
	}
	if r.known.Folder == nil {
		return false
	}
	if _, found := all[r.reference.Name]; !found {
		r.add([]string{"template", "name"}, fmt.Sprintf("%q is not among spec.%s of the file of the kind "+
			"AnalysisTemplate in the folder .pipe, which has: %s", r.reference.Name, r.at[0], names(all)))
		return false
	}
	return overlay(r.reference, r.at[0], all, given, entry) == nil
}

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

// Mistake is a name in the options of a stage, or in a file of templates, that refers to nothing.
type Mistake struct {
	// Path are the keys and indexes that lead to it.
	Path    []string
	Message string
}

// Mistakes returns the names of the options that refer to nothing: providers, templates and variables.
func (o *Options) Mistakes(known Known) []Mistake {
	var found []Mistake
	var all raw
	if known.Folder != nil {
		all = known.Folder.templates
	}
	for i := range o.Metrics {
		m := &o.Metrics[i]
		at := references{known: known, at: []string{"metrics", strconv.Itoa(i)}, reference: m.Template}
		at.provider(m.Provider)
		if merge(&at, all.Metrics, m.given, &m.Metric) {
			at.variables("query", m.Query, m.sides())
		}
		found = append(found, at.found...)
	}
	for i := range o.Logs {
		l := &o.Logs[i]
		at := references{known: known, at: []string{"logs", strconv.Itoa(i)}, reference: l.Template}
		at.provider(l.Provider)
		if merge(&at, all.Logs, l.given, &l.Log) {
			at.variables("query", l.Query, nil)
		}
		found = append(found, at.found...)
	}
	for i := range o.HTTPS {
		h := &o.HTTPS[i]
		at := references{known: known, at: []string{"https", strconv.Itoa(i)}, reference: h.Template}
		at.headers(h.HeadersFrom)
		if merge(&at, all.HTTPS, h.given, &h.HTTP) {
			at.variables("url", h.URL, nil)
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
		at.variables("query", m.Query, m.sides())
		found = append(found, at.found...)
	}
	for _, name := range sortedKeys(t.Logs) {
		at := references{known: known, at: []string{"logs", name}, anyArgs: true}
		at.provider(t.Logs[name].Provider)
		at.variables("query", t.Logs[name].Query, nil)
		found = append(found, at.found...)
	}
	for _, name := range sortedKeys(t.HTTPS) {
		at := references{known: known, at: []string{"https", name}, anyArgs: true}
		at.headers(t.HTTPS[name].HeadersFrom)
		at.variables("url", t.HTTPS[name].URL, nil)
		found = append(found, at.found...)
	}
	return found
}

// sides are the arguments of both variants that a strategy compares; nil for strategies without variants.
func (m *Metric) sides() []map[string]string {
	switch m.Strategy {
	case CanaryBaseline:
		return []map[string]string{m.CanaryArgs, m.BaselineArgs}
	case CanaryPrimary:
		return []map[string]string{m.CanaryArgs, m.PrimaryArgs}
	}
	return nil
}

// references looks for mistakes in one entry.
type references struct {
	known     Known
	at        []string
	reference *TemplateRef
	// anyArgs is whether arguments may have any name.
	anyArgs bool
	found   []Mistake
}

func (r *references) add(key []string, message string) {
	r.found = append(r.found, Mistake{slices.Concat(r.at, key), message})
}

func (r *references) provider(name string) {
	if name == "" || r.known.Providers == nil || slices.Contains(r.known.Providers, name) {
		return
	}
	r.add([]string{"provider"}, fmt.Sprintf("%q is not among the analysisProviders of the piped configuration: %s",
		name, orNone(r.known.Providers)))
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

// variables looks for variables without a value. Where the text is that of a template, the mistake is at its name.
func (r *references) variables(key, text string, sides []map[string]string) {
	values := ForApplication("", r.known.CustomArgs, nil).With(r.reference)
	if sides == nil {
		sides = []map[string]string{nil}
	}
	var known []string
	for _, args := range sides {
		for _, variable := range values.Of("", args).unknown(text, r.anyArgs) {
			if slices.Contains(known, variable) {
				continue
			}
			known = append(known, variable)
			message := fmt.Sprintf("the variable {{ %s }} has no value", variable)
			if r.reference != nil {
				r.add([]string{"template", "name"}, message+fmt.Sprintf(": %q needs it in %s", r.reference.Name, key))
				continue
			}
			r.add([]string{key}, message)
		}
	}
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxFile bounds a file of the folder .pipe, in bytes.
const maxFile = 1 << 20

// Templates is the spec of a file of the kind AnalysisTemplate.
type Templates struct {
	// Metrics are queries of numbers, by name.
	Metrics map[string]Metric `json:"metrics"`
	// Logs are queries of logs, by name.
	Logs map[string]Log `json:"logs"`
	// HTTPS are requests, by name.
	HTTPS map[string]HTTP `json:"https"`
}

// raw is the same before it is merged.
type raw struct {
	Metrics map[string]json.RawMessage `json:"metrics"`
	Logs    map[string]json.RawMessage `json:"logs"`
	HTTPS   map[string]json.RawMessage `json:"https"`
}

// Resolve fills in what the entries of the options have from templates of the folder, which need not exist, and checks
// all entries. Keys of the stage win, one by one.
func (o *Options) Resolve(folder string) error {
	var templates raw
	if o.usesTemplates() {
		var err error
		if templates, err = readTemplates(folder); err != nil {
			return err
		}
	}
	var mistakes []error
	for i := range o.Metrics {
		m := &o.Metrics[i]
		err := overlay(m.Template, "metrics", templates.Metrics, m.given, &m.Metric)
		if err == nil {
			err = m.Check(times{o.Duration.Std(), m.Template != nil})
		}
		mistakes = append(mistakes, inEntry("metrics", i, err))
	}
	for i := range o.Logs {
		l := &o.Logs[i]
		err := overlay(l.Template, "logs", templates.Logs, l.given, &l.Log)
		if err == nil {
			err = l.Check(times{o.Duration.Std(), l.Template != nil})
		}
		mistakes = append(mistakes, inEntry("logs", i, err))
	}
	for i := range o.HTTPS {
		h := &o.HTTPS[i]
		err := overlay(h.Template, "https", templates.HTTPS, h.given, &h.HTTP)
		if err == nil {
			err = h.Check(times{o.Duration.Std(), h.Template != nil})
		}
		mistakes = append(mistakes, inEntry("https", i, err))
	}
	return errors.Join(mistakes...)
}

func (o *Options) usesTemplates() bool {
	return slices.ContainsFunc(o.Metrics, func(m StageMetric) bool { return m.Template != nil }) ||
		slices.ContainsFunc(o.Logs, func(l StageLog) bool { return l.Template != nil }) ||
		slices.ContainsFunc(o.HTTPS, func(h StageHTTP) bool { return h.Template != nil })
}

// overlay decodes a template, then the keys of the stage over it.
func overlay[T any](ref *TemplateRef, list string, all map[string]json.RawMessage, given json.RawMessage,
	entry *T) error {
	if ref == nil {
		return nil
	}
	template, found := all[ref.Name]
	if !found {
		return fmt.Errorf("the template %q is not among spec.%s of the file of the kind AnalysisTemplate in the "+
			"folder .pipe, which has: %s", ref.Name, list, names(all))
	}
	var merged T
	if err := json.Unmarshal(template, &merged); err != nil {
		return fmt.Errorf("the template %s: %w", ref.Name, err)
	}
	if err := json.Unmarshal(given, &merged); err != nil {
		return err
	}
	*entry = merged
	return nil
}

func names[T any](all map[string]T) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}

// readTemplates reads the first file of the kind AnalysisTemplate directly in the folder (PipeCD v1).
func readTemplates(folder string) (raw, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return raw{}, err
	}
	for _, entry := range entries {
		if ext := filepath.Ext(entry.Name()); entry.IsDir() || ext != ".yaml" && ext != ".yml" && ext != ".json" {
			continue
		}
		data, err := readFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return raw{}, err
		}
		templates, is, err := parseTemplates(data)
		if err != nil {
			return raw{}, fmt.Errorf("%s/%s: %w", filepath.Base(folder), entry.Name(), err)
		}
		if is {
			return templates, nil
		}
	}
	return raw{}, nil
}

// parseTemplates reports whether the file is one of templates. What is no YAML at all is another program's business.
func parseTemplates(data []byte) (templates raw, is bool, err error) {
	document, err := toJSON(data)
	var file struct {
		APIVersion string          `json:"apiVersion"`
		Kind       string          `json:"kind"`
		Spec       json.RawMessage `json:"spec"`
	}
	if err != nil || json.Unmarshal(document, &file) != nil || file.Kind != "AnalysisTemplate" {
		return raw{}, false, nil
	}
	if err := decode(file.Spec, &templates); err != nil {
		return raw{}, false, fmt.Errorf("spec: %w", err)
	}
	return templates, true, nil
}

func readFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s has more than %d KiB", name, maxFile>>10)
	}
	return data, err
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/gitroot"
	"github.com/pipedeck/pipedeck/piped/config"
	analysis "github.com/pipedeck/pipedeck/plugins/analysis/config"
)

// stageAnalysis is the stage whose options refer to providers and templates.
const stageAnalysis = "ANALYSIS"

// references checks the names that stages ANALYSIS and their templates refer to, and what can never fail.
type references struct {
	// providers are those of the piped configurations that count; nil when none of them has the plugin.
	providers []string
	// withLogs are those that have logs.
	withLogs []string
	// headers are those with secrets.
	headers []string
	// folders are those that have been read, by the root of the repository.
	folders map[string]*analysis.Folder
}

// note notes the providers of a piped configuration.
func (r *references) note(report *config.Report) {
	for i, plugin := range report.Piped.Plugins {
		if plugin.Name != "analysis" && !slices.Contains(plugin.Stages, stageAnalysis) {
			continue
		}
		var configured analysis.Config
		if into(report.Value(fmt.Sprintf("spec.plugins[%d].config", i)).Any(), &configured) != nil {
			continue // which is an error already
		}
		if r.providers == nil {
			r.providers = []string{}
		}
		for _, provider := range configured.AnalysisProviders {
			r.providers = append(r.providers, provider.Name)
			if provider.HasLogs() {
				r.withLogs = append(r.withLogs, provider.Name)
			}
		}
		for _, header := range configured.HTTPHeaders {
			r.headers = append(r.headers, header.Name)
		}
	}
}

// check adds to a report what refers to nothing.
func (r *references) check(report *config.Report) {
	switch {
	case report.Application != nil && report.Application.Pipeline != nil:
		for i, stage := range report.Application.Pipeline.Stages {
			if stage.Name == stageAnalysis {
				r.stage(report, fmt.Sprintf("spec.pipeline.stages[%d].with", i))
			}
		}
	case report.Kind == config.KindAnalysisTemplate:
		var templates analysis.Templates
		spec := report.Value("spec")
		if into(spec.Any(), &templates) == nil {
			addMistakes(spec, templates.Mistakes(r.known(nil)))
		}
	}
	report.Sort()
}

func (r *references) stage(report *config.Report, at string) {
	var options analysis.Options
	var application analysis.Application
	with := report.Value(at)
	if into(with.Any(), &options) != nil ||
		into(report.Value("spec.plugins.analysis").Any(), &application) != nil {
		return // Values of the wrong form are errors already.
	}
	known := r.known(r.folder(report))
	known.CustomArgs = application.AppCustomArgs
	addMistakes(with, options.Mistakes(known))
}

func (r *references) known(folder *analysis.Folder) analysis.Known {
	return analysis.Known{Providers: r.providers, LogProviders: r.withLogs, Headers: r.headers, Folder: folder}
}

// folder is the folder .pipe of the repository of a file; nil when it is not known.
func (r *references) folder(report *config.Report) *analysis.Folder {
	dir, err := filepath.Abs(filepath.Dir(report.File()))
	if err != nil || report.File() == inputName {
		return nil
	}
	root, is := gitroot.Of(dir)
	if !is {
		return nil
	}
	if known, read := r.folders[root]; read {
		return known
	}
	folder, err := analysis.ReadFolder(filepath.Join(root, ".pipe"))
	if err != nil {
		folder = nil // A file that cannot be read is reported by itself.
	}
	if r.folders == nil {
		r.folders = map[string]*analysis.Folder{}
	}
	r.folders[root] = folder
	return folder
}

func addMistakes(value config.Value, found []analysis.Mistake) {
	for _, mistake := range found {
		if mistake.Warning {
			value.Warning(mistake.Path, false, mistake.Message)
			continue
		}
		value.Error(mistake.Path, false, mistake.Message)
	}
}

// into decodes a value of a file.
func into(value, to any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}
